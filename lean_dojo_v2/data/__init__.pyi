from .difficulty import difficulty as difficulty
from .errors import NotInDatabaseError as NotInDatabaseError
from .repository import Repository as Repository
