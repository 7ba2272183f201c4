// A fault that ends the process leaves a line in the log: the last one, with its cause.
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { NODE_COMPILE_CACHE, nodeProgram } from '../support/command/run-command-process.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { startTestSite } from '../support/site/test-site.ts'

const load = (file: string) => `await import(${JSON.stringify(path.join(repositoryRoot, file))})`
const startReporting = `
  const { pinoLog } = ${load('adapters/host/log/pino-log.ts')}
  const { reportFaults } = ${load('daemon/boot/host/fault-report.ts')}
  const stop = reportFaults(pinoLog({ level: 'error', to: 'stdout', base: { site: 'alpha', role: 'boot' } }));
`

/** The exit status and the lines of the log of a process that runs this after its log has been opened. */
async function runFaulty(fault: string): Promise<{ readonly status: number; readonly lines: readonly string[] }> {
  const args = ['--input-type=module', '--eval', startReporting + fault]
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE }
  const ended = await promisify(execFile)(nodeProgram, args, { env }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => error,
  )
  return { status: ended.code, lines: ended.stdout.split('\n').filter((line) => line !== '') }
}

test.each([
  ['a loop that nothing awaits', `(async () => { throw new Error('lost loop') })()`, 'unhandledRejection'],
  ['a timer', `setTimeout(() => { throw new Error('lost loop') })`, 'uncaughtException'],
])('%s that throws ends the process with a line of its log', async (_, fault, origin) => {
  const { status, lines } = await runFaulty(fault)
  expect(status).not.toBe(0)
  expect(lines).toHaveLength(1)
  const expected = { level: 'error', site: 'alpha', event: 'platform.fault', origin }
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ ...expected, error: expect.stringContaining('lost loop') })
})

test('nothing is reported after the site has stopped', async () => {
  expect(await runFaulty('stop(); await Promise.reject(new Error())')).toMatchObject({ lines: [] })
})

test('a site reports while it runs', async () => {
  const count = () => process.listenerCount('uncaughtExceptionMonitor')
  const before = count()
  const world = await startTestSite()
  expect(count()).toBe(before + 1)
  await world.end()
  expect(count()).toBe(before)
})
