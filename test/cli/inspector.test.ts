// The signal that opens Node's inspector changes nothing in a daemon.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'
import { serveSiteProcess } from '../support/command/run-command-process.ts'

const scratch = createScratchFolder('usr1')
const site = `${scratch.dir}/site`

beforeAll(async () => {
  const made = await runCommand(['init', '--site', site, '--tenant', 'acme', '--port-base', '0', '--yes'])
  expect(made).toMatchObject({ exit: 0 })
})
afterAll(() => scratch.remove())

test('SIGUSR1 neither opens the inspector nor ends the process', async () => {
  const daemon = await serveSiteProcess(site)
  process.kill(daemon.pid, 'SIGUSR1')
  // Answered after the signal, which the kernel delivers first.
  const listed = await runCommand(['consensus', 'list', '--site', site, '--json'])
  expect(listed, listed.stderr).toMatchObject({ exit: 0 })
  const { exit, stderr } = await daemon.stop()
  expect(exit).toBe(0)
  expect(stderr).not.toMatch(/debugger listening|inspector/i)
})
