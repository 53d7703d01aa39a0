import Foreign.Foundations
import Foreign.Maze
import Foreign.Example
import Foreign.Scoped
