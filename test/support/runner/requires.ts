// Lets a test need a tool of the machine: run where it is, skipped loudly where it is not, failed where all must be real.
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { test } from 'vitest'

/** Whether an executable file of this name is on PATH, or is named by the environment variable of a server or tool. */
export function isOnPath(tool: string): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => isExecutable(path.join(folder, tool)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export type ToolRequirement = { readonly isPresent: boolean; readonly name: string; readonly hint: string }

/**
 * A stand-in for `test` that needs tools on PATH: `requires('strace')('syncs before it answers', async () => ...)`.
 * With `REQUIRE_REAL=1` a missing tool is a failing test "<tool> is required"; otherwise a skip, with its reason on
 * standard error.
 */
export function requires(...tools: readonly string[]): typeof test {
  const missing = tools.filter((tool) => !isOnPath(tool))
  return whenPresent({ isPresent: missing.length === 0, name: missing.join(' and '), hint: 'not found on PATH' })
}

/** The same for what is not a program on PATH: a variable that names a tool, a server's address, a folder of data. */
export function whenPresent({ isPresent, name, hint }: ToolRequirement): typeof test {
  if (isPresent) return test
  if (process.env.REQUIRE_REAL === '1') return createFailingTest(name, hint)
  process.stderr.write(`SKIPPED: tests that need ${name}: ${hint}\n`)
  return test.skip as typeof test
}

/** Keeps the shape of `test`, `each` and its like included, so that any use compiles, runs and fails. */
function createFailingTest(name: string, hint: string): typeof test {
  const fail = () => {
    throw new Error(`${name} is required (REQUIRE_REAL=1): ${hint}`)
  }
  const wrap = (subject: object): object =>
    new Proxy(subject, {
      apply(target, self, args: unknown[]) {
        const withoutBody = args.map((arg) => (typeof arg === 'function' ? fail : arg))
        const result: unknown = Reflect.apply(target as typeof fail, self, withoutBody)
        return typeof result === 'function' ? wrap(result) : result
      },
      get(target, key) {
        const member: unknown = Reflect.get(target, key)
        return typeof member === 'function' ? wrap(member.bind(target)) : member
      },
    })
  return wrap(test) as typeof test
}
