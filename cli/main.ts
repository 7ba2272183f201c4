// Entry point: runs the command that the arguments name.
import { runProgram } from './program/program.ts'
import { dropRuntimeVariables, ignoreInspectorSignal } from './program/runtime-variables.ts'
import { hideExperimentalWarnings } from './terminal/experimental-warnings.ts'
import { processTerminal } from './terminal/terminal.ts'

dropRuntimeVariables(process.env)
ignoreInspectorSignal(process)
hideExperimentalWarnings(process)
process.exitCode = await runProgram(process.argv.slice(2), processTerminal())
