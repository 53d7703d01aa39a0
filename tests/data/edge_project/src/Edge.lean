/- Comments before the header /- may nest -/ import Nothing -/
-- import Nothing.Either
import Edge.Basic
import Edge.Tactics -- a comment after an import
import Edge.Private
import Edge.PrivateToo
import Edge.Crlf
import Edge.Modern
import Edge.Broken
import Edge.Empty
