// Shows that a missing tool never passes in silence: it is a reported skip, or a failure where all must be real.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../repository/source-tree.ts'

let folder: string

beforeAll(() => {
  // Under the repository, so that the sample finds vitest.
  const dist = path.join(repositoryRoot, 'dist')
  mkdirSync(dist, { recursive: true })
  folder = mkdtempSync(path.join(dist, 'requires-'))
  const subject = path.join(import.meta.dirname, 'requires.ts')
  const body = `import { requires } from '${subject}'
requires('node')('with a tool that is there', () => {})
requires('no-such-tool')('without', () => {})
requires('no-such-tool').each([1, 2])('without, %i', () => {})
`
  writeFileSync(path.join(folder, 'sample.test.ts'), body)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the sample in a vitest of its own: a failing test is the expected result. */
function runSample(real: string) {
  const runner = path.join(repositoryRoot, 'node_modules/vitest/vitest.mjs')
  const args = [
    runner,
    'run',
    '--root',
    folder,
    '--reporter=json',
    `--outputFile.json=${path.join(folder, 'report.json')}`,
  ]
  const env = { ...process.env, REQUIRE_REAL: real }
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  return { status, stderr, report: JSON.parse(readFileSync(path.join(folder, 'report.json'), 'utf8')) }
}

test('a missing tool is skipped, and says so', () => {
  const { status, stderr, report } = runSample('')
  expect(status).toBe(0)
  expect(report).toMatchObject({ numPassedTests: 1, numPendingTests: 3, numFailedTests: 0 })
  expect(stderr).toContain('SKIPPED: tests that need no-such-tool: not found on PATH')
})

test('with REQUIRE_REAL=1 it fails by name', () => {
  const { status, report } = runSample('1')
  expect(status).not.toBe(0)
  expect(report).toMatchObject({ numPassedTests: 1, numPendingTests: 0, numFailedTests: 3 })
  const messages = report.testResults[0].assertionResults.flatMap(
    (r: { failureMessages: string[] }) => r.failureMessages,
  )
  expect(messages[0]).toContain('no-such-tool is required')
})
