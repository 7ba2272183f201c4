// Turns the words typed into one command; each command is a file of its own.
import { runProgram } from './program.ts'
import { processTerminal } from './terminal.ts'
import { hideExperimentalWarnings } from './warnings.ts'

hideExperimentalWarnings(process)
process.exitCode = await runProgram(process.argv.slice(2), processTerminal())
