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

inductive Kind where
  | text | boolean | natural | texts | naturals | object
  deriving BEq, Inhabited

structure Field where
  name : String
  kind : Kind
  required : Bool := false
  deriving Inhabited

def optional (kind : Kind) (name : String) : Field := { name, kind }

def required (kind : Kind) (name : String) : Field := { name, kind, required := true }

namespace Kind

def words : Kind → String
  | text => "a text"
  | boolean => "true or false"
  | natural => "a natural number"
  | texts => "a list of texts"
  | naturals => "a list of natural numbers"
  | object => "an object"

/-- Natural numbers must be below 2^53, so that every language reads them exactly. -/
private def isNatural (value : Json) : Bool :=
  match value.getNat? with
  | .ok n => n < 9007199254740992
  | .error _ => false

def admits (kind : Kind) (value : Json) : Bool :=
  match kind, value with
  | text, .str _ => true
  | boolean, .bool _ => true
  | natural, value => isNatural value
  | texts, .arr items => items.all (· matches .str _)
  | naturals, .arr items => items.all isNatural
  | object, .obj _ => true
  | _, _ => false

end Kind

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
