"""The patch of the JavaScript glue, on a text small enough to read."""

from __future__ import annotations

import pytest

from lean_dojo_v2.lean.engines.embedded.patch_glue import patch_glue

GLUE = (
    'var Module=typeof Module!="undefined"?Module:{};'
    "symbol=UTF8ToString(symbol);var result;var newSymIndex;"
    "var dlopenInternal=(handle,jsflags)=>{};"
    "functionsInTableMap=new WeakMap;updateTableMap(0,wasmTable.length);"
    "var updateGOT=(exports,replace)=>{for(var symName in exports)"
    "{if(isInternalSym(symName)){continue}}};"
    "var value=resolveGlobalSymbol(symName,true).sym;if(!value&&!entry.required){};"
    "function getWasmImports(){assignWasmImports();}throw exceptionLast;throw exceptionLast;"
    'throw exceptionLast;throw Infinity;postMessage({cmd:"uncaughtException",error:err});'
    "addOnPreRun(async()=>{var pthreadPoolReady=PThread.loadWasmModuleToAllWorkers();"
    'addRunDependency("loading-workers");await pthreadPoolReady;'
    'removeRunDependency("loading-workers")});'
    'process.binding("constants")["fs"];var pthreadPoolSize=4;'
    'new Worker(pthreadMainJs,{workerData:"em-pthread",name:"em-pthread"});'
    'console.log("[DEBUG: noise");if(isNode){path=__filename};_used();'
    "var _main,_lean_main,_used,_unused;"
    "function assignWasmExports(wasmExports){"
    '_main=Module["_main"]=wasmExports["main"];_used=Module["_used"]=wasmExports["used"];'
    '_unused=Module["_unused"]=wasmExports["unused"]'
    "}var wasmImports;function assignWasmImports(){}function callMain(args=[]){_main()}"
)


def test_keeps_what_the_glue_uses_and_drops_the_rest() -> None:
    patched = patch_glue(GLUE)
    assert 'wasmExports["used"]' in patched
    assert "unused" not in patched
    assert "var _main,_used;" in patched


def test_makes_every_replacement() -> None:
    patched = patch_glue(GLUE)
    assert "var Module=settings" in patched
    assert "process.binding" not in patched
    assert 'console.log("[DEBUG' not in patched
    assert 'Module["setStack"]' in patched
    assert 'Module["symbols"](symbol)' in patched
    assert "||!(symName in GOT)" in patched
    assert patched.count('throw Module["thrown"]') == 4


@pytest.mark.parametrize(
    "text", ["var pthreadPoolSize=4;", "function callMain(args=[]){", "throw Infinity"]
)
def test_another_glue_is_refused(text: str) -> None:
    with pytest.raises(AssertionError, match="another release"):
        patch_glue(GLUE.replace(text, ""))
    with pytest.raises(AssertionError, match="another release"):
        patch_glue(GLUE + text)
