import Dojo.Compat

/-!
# Requests and their fields

A request is a JSON object. Every command declares its fields and their types. An undeclared field, or one of the wrong
type, is refused before the command runs. A field that is `null` counts as absent.
-/

namespace Dojo

open Lean

/-- Why a request fails, which is also its answer. The session goes on. -/
structure Failure where
  /-- `command`, `index`, `parse`, `elab`, `exception`, `io`, `import`, `operation`, … -/
  error : String
  /-- One clear sentence. -/
  desc : String
  deriving Inhabited, ToJson

/-- What a field may hold. -/
structure Kind where
  words : String
  admits : Json → Bool
  deriving Inhabited

namespace Kind

/-- Natural numbers must be below 2^53, so that every language reads them exactly. -/
private def isNatural (value : Json) : Bool := value.getNat?.toOption.any (· < 9007199254740992)

private def isList (isItem : Json → Bool) (value : Json) : Bool := value.getArr?.toOption.any (·.all isItem)

def text : Kind := ⟨"a text", (· matches .str _)⟩
def boolean : Kind := ⟨"true or false", (· matches .bool _)⟩
def natural : Kind := ⟨"a natural number", isNatural⟩
def texts : Kind := ⟨"a list of texts", isList (· matches .str _)⟩
def naturals : Kind := ⟨"a list of natural numbers", isList isNatural⟩
def object : Kind := ⟨"an object", (· matches .obj _)⟩

end Kind

structure Field where
  name : String
  kind : Kind
  required : Bool := false
  deriving Inhabited

def optional (kind : Kind) (name : String) : Field := { name, kind }

def required (kind : Kind) (name : String) : Field := { name, kind, required := true }

/-- A request with checked fields. -/
structure Request where
  payload : Json
  deriving Inhabited

namespace Request

/-- Checks the fields of a request to `command`. -/
def check (command : String) (fields : List Field) (payload : Json) : Except String Request := do
  let given := (members payload).filter fun (_, value) => !value.isNull
  for (name, value) in given do
    match fields.find? (·.name == name) with
    | none => throw s!"{command}: there is no field {name}"
    | some field =>
      unless field.kind.admits value do throw s!"{command}: {name} must be {field.kind.words}"
  for field in fields do
    if field.required && !given.any (·.1 == field.name) then throw s!"{command}: {field.name} is missing"
  return { payload := Json.mkObj given }

def has (request : Request) (name : String) : Bool := !(request.payload.getObjValD name).isNull

/-- A field in the type of its kind; `none` if it is absent. -/
def get? {α : Type} [FromJson α] (request : Request) (name : String) : Option α :=
  (request.payload.getObjValAs? α name).toOption

def text? (request : Request) (name : String) : Option String := request.get? name
def text (request : Request) (name : String) (default := "") : String := (request.get? name).getD default
def nat? (request : Request) (name : String) : Option Nat := request.get? name
def nat (request : Request) (name : String) : Nat := (request.get? name).getD 0
def flag (request : Request) (name : String) (default := false) : Bool := (request.get? name).getD default
def texts (request : Request) (name : String) : List String := (request.get? name).getD []
def nats (request : Request) (name : String) : List Nat := (request.get? name).getD []

/-- The members of a field that is an object; no members if it is absent. -/
def object (request : Request) (name : String) : List (String × Json) := members (request.payload.getObjValD name)

end Request

/-- A JSON object with the given members, and with the optional ones that are present. -/
def record (pairs : List (String × Json)) (more : List (Option (String × Json)) := []) : Json :=
  Json.mkObj (pairs ++ more.filterMap id)

end Dojo
