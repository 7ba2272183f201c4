// The script by which a DAG file in Python is checked: compiled, and imported where it may be run. Its last line is the answer.

/** A package that is absent here may be on the workers of Airflow: its import ends the check without a fault. */
export const python_check = `
import json, sys, traceback

def end(reason, line):
    sys.__stdout__.write("\\n" + json.dumps({"reason": str(reason)[:500], "line": line}) + "\\n")
    sys.__stdout__.flush()
    import os
    os._exit(0)

path, mode = sys.argv[1], sys.argv[2]
try:
    with open(path, "rb") as file:
        code = compile(file.read(), "dag.py", "exec")
except SyntaxError as error:
    end(f"{type(error).__name__}: {error.msg}", error.lineno)
except Exception as error:
    end(f"{type(error).__name__}: {error}", None)
if mode == "import":
    try:
        exec(code, {"__name__": "dag", "__file__": "dag.py"})
    except ModuleNotFoundError:
        pass
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "dag.py"]
        end(f"{type(error).__name__}: {error}", lines[-1] if lines else None)
end("", None)
`
