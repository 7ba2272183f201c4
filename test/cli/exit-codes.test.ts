// The exit codes that scripts rely on: 0 done, 1 failed, 2 usage, 3 refused, 4 not reachable, 5 found a problem. Code 6, a poor result, is tested in test/resolution/quality.test.ts.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ErrorCode, errorTable, refuse } from '../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../daemon/kernel/error/problem.ts'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'
import { expectNone } from '../support/repository/expect-none.ts'
import { listRepositoryFiles, repositoryRoot } from '../support/repository/source-tree.ts'

/** The contract for an answer of a service, by its HTTP status. */
const exitByStatus: Readonly<Record<number, number>> = {
  400: 2,
  401: 3,
  403: 3,
  404: 1,
  405: 2,
  406: 2,
  409: 3,
  412: 3,
  413: 2,
  415: 2,
  422: 2,
  429: 4,
  500: 1,
  503: 4,
}

/** A result that this site found to be false is a problem that was found. */
const exceptions: Readonly<Partial<Record<ErrorCode, number>>> = { result_invalid: 5 }

describe('a command that a service refuses', () => {
  test.each(Object.keys(errorTable) as ErrorCode[])('with %s', async (code) => {
    const { status } = errorTable[code]
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify(problemOf(refuse(code, 'a reason'), 'trace')))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { exit, stderr } = await runCommand(['consensus', 'list', '--url', url, '--token', 'x'])
    expect(stderr).toContain('a reason')
    expect(exit).toBe(exceptions[code] ?? exitByStatus[status])
  })
})

/** What a message says about the reason, and the only exit code that goes with it. */
const reasons: readonly (readonly [RegExp, number])[] = [
  [/cannot be reached|did not answer|no cluster answers|the service stopped/, 4],
  [/already exists|is not empty|already contains a site|contains other files|is pinned already|is enrolled already/, 3],
  [/another (run|import|process) is|is running|not confirmed|must be confirmed/, 3],
  [/cannot be written/, 1],
  [/cannot be combined|needs? --|works for a single/, 2],
]

test('every failure that a command states has the exit code of its reason', () => {
  const sources = listRepositoryFiles().filter(
    (file) => /^(cli|daemon|adapters)\/.*\.tsx?$/.test(file) && !/\.test\./.test(file),
  )
  const failures = sources.flatMap((file) => {
    const text = readFileSync(path.join(repositoryRoot, file), 'utf8')
    const pattern = /new (?:CommandFailure|OfflineCommandError)\(\s*(\d),\s*([`'"])((?:(?!\2).)*)\2/gs
    return [...text.matchAll(pattern)].map(([, exit, , message = '']) => ({ file, exit: Number(exit), message }))
  })
  expect(failures.length).toBeGreaterThan(200)
  expectNone(
    failures.flatMap(({ file, exit, message }) => {
      const wanted = reasons.find(([pattern]) => pattern.test(message))?.[1]
      return wanted === undefined || wanted === exit ? [] : [`${file}: ${message} (${exit}, not ${wanted})`]
    }),
  )
})

test('a refusal to start is 3, and a profile with faults 1; a profile check that finds either is 5', async () => {
  const { dir, remove } = createScratchFolder('exit-codes')
  onTestFinished(remove)
  const env = { PLATFORM_SITE: path.join(dir, 'alpha'), MATCHING_PATTERN: 'lookup_only' }
  await runCommand(['init', '--tenant', 'acme', '--profile', 'customer-onprem', '--site', env.PLATFORM_SITE, '--yes'])
  const refused = await runCommand(['serve'], { env })
  expect(refused).toMatchObject({ exit: 3, stdout: '' })
  expect(refused.stderr).toContain('lookup_only')
  expect((await runCommand(['profile', 'validate'], { env })).exit).toBe(5)
  const faulty = { ...env, MATCHING_PATTERN: 'lookup' }
  expect((await runCommand(['serve'], { env: faulty })).exit).toBe(1)
  expect((await runCommand(['profile', 'validate'], { env: faulty })).exit).toBe(5)
})

test('usage, and a service that is not there', async () => {
  expect((await runCommand(['consensus', 'list', '--limit', 'many'])).exit).toBe(2)
  expect((await runCommand(['consensus', 'list', '--url', 'http://127.0.0.1:1', '--token', 'x'])).exit).toBe(4)
})
