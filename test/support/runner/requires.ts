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
  return whenPresent(findTools(...tools))
}

/** Whether all these programs are on PATH. */
export function findTools(...tools: readonly string[]): ToolRequirement {
  const missing = tools.filter((tool) => !isOnPath(tool))
  return { isPresent: missing.length === 0, name: missing.join(' and '), hint: 'not found on PATH' }
}

/**
 * The same for a tool other than a program on PATH: a variable that names it, a server's address, a folder of data.
 * `tests` is a test function with fixtures, in place of `test`.
 */
export function whenPresent<Tests extends object = typeof test>(
  { isPresent, name, hint }: ToolRequirement,
  tests: Tests = test as unknown as Tests,
): Tests {
  if (isPresent) return tests
  if (process.env.REQUIRE_REAL === '1') return createFailingTest(tests, name, hint)
  process.stderr.write(`SKIPPED: tests that need ${name}: ${hint}\n`)
  return (tests as unknown as typeof test).skip as unknown as Tests
}

/** Keeps the shape of `test`, `each` and its like included, so that any use compiles, runs and fails. */
function createFailingTest<Tests extends object>(tests: Tests, name: string, hint: string): Tests {
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
  return wrap(tests) as Tests
}
