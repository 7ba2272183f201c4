// What can be seen to be wrong with a command before anything is made for it.
import * as fs from 'node:fs'
import { isAbsolute, normalize } from 'node:path'
import {
  input_name,
  max_inputs,
  type SandboxCommand,
  type SandboxServer,
} from '../../../daemon/kernel/sandbox/sandbox.ts'

export function findCommandFault({
  program,
  inputs,
  args,
  visible,
}: Omit<SandboxCommand | SandboxServer, 'limits'>): string | undefined {
  const names = Object.keys(inputs)
  const wrongName = names.find((name) => !input_name.test(name))
  const wrongPath = [program, ...visible].find((path) => !isShowable(path))
  const missing = args.find((arg) => typeof arg !== 'string' && !Object.hasOwn(inputs, arg.input))
  if (wrongPath !== undefined) return `${wrongPath} is not an absolute path that can be shown`
  if (wrongName !== undefined) return `"${wrongName}" cannot be the name of an input`
  if (names.length > max_inputs) return `${names.length} inputs are too many: at most ${max_inputs}`
  if (missing !== undefined) return 'an argument names an input that is not there'
  return findProgramFault(program)
}

/** The root would show everything; what the kernel provides is mounted again inside. */
function isShowable(path: string): boolean {
  return isAbsolute(path) && normalize(path) === path && !/^\/$|^\/(proc|sys|dev)(\/|$)|[/\0]$/.test(path)
}

function findProgramFault(program: string): string | undefined {
  try {
    fs.accessSync(program, fs.constants.X_OK)
    return fs.statSync(program).isFile() ? undefined : `${program} is not a program`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
