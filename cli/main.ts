// Entry point: runs the command that the arguments name.
import { offline } from '../daemon/offline/offline.ts'
import { runProgram } from './program/program.ts'
import { dropRuntimeVariables, ignoreInspectorSignal } from './program/runtime-variables.ts'
import { hideExperimentalWarnings } from './terminal/experimental-warnings.ts'
import { processTerminal } from './terminal/terminal.ts'

dropRuntimeVariables(process.env)
ignoreInspectorSignal(process)
hideExperimentalWarnings(process)
const words = process.argv.slice(2)
if (words[0] === offline.role_task_argument) await (await offline.roleTask()).answerRoleTask(process)
else process.exitCode = await runProgram(words, processTerminal())
