// Entry point: runs the command that the arguments name.
import { runProgram } from './program/program.ts'
import { hideExperimentalWarnings } from './terminal/experimental-warnings.ts'
import { processTerminal } from './terminal/terminal.ts'

hideExperimentalWarnings(process)
process.exitCode = await runProgram(process.argv.slice(2), processTerminal())
