import Dojo.Check
import Dojo.Digest
import Dojo.Goals
import Dojo.Inspect
import Dojo.Pickle
import Dojo.Judge
import Dojo.Process
import Dojo.Replay
import Dojo.Settings
import Dojo.Steps
import Dojo.Syntax
import Dojo.Targets
import Dojo.Trace
import Dojo.Track

/-!
# The commands of the protocol

Each file that answers commands has a list of them; this is all of them.
-/

namespace Dojo

def commands : List Command :=
  settingsCommands ++ goalCommands ++ stepCommands ++ inspectCommands ++
    checkCommands ++ judgeCommands ++ digestCommands ++ replayCommands ++ syntaxCommands ++ traceCommands ++
    pickleCommands ++ processCommands ++ targetCommands ++ trackCommands

/-- The command of a name. -/
def findCommand? (name : String) : Option Command :=
  commands.find? (·.name == name)

end Dojo
