import Sample.Logic
import Sample.Bool
