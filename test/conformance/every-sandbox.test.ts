// Runs the sandbox with each isolation against each requirement, and says what the kernel of this machine gives.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, vi } from 'vitest'
import { linuxSandbox, openSandbox } from '../../adapters/sandbox/linux/linux-sandbox.ts'
import type { SandboxIsolation } from '../../daemon/kernel/sandbox/sandbox.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { whenPresent } from '../support/runner/requires.ts'
import { isRunning, sandboxRequirements } from './sandbox.ts'

const opened = await openSandbox()

describe.each<SandboxIsolation>(['namespaces', 'limits'])('%s', (isolation) => {
  const where = whenPresent({
    isPresent: isolation === 'limits' || opened.isolation === 'namespaces',
    name: 'user namespaces',
    hint: opened.shortfall ?? '',
  })

  for (const { id, description, isolations, verify } of sandboxRequirements)
    if (isolations.includes(isolation))
      where(`${id}: ${description}`, async () => {
        const dir = fs.mkdtempSync(path.join(tmpdir(), 'sandbox-test-'))
        fs.chmodSync(dir, 0o755)
        try {
          await verify({ sandbox: linuxSandbox(isolation), dir })
        } finally {
          fs.rmSync(dir, { recursive: true, force: true })
        }
      })

  where('what runs in it ends when this process is killed', async () => {
    const mark = `31536000.${process.pid}${isolation.length}`
    const child = spawn(process.execPath, ['-e', buildParentScript(isolation, mark)], { cwd: repositoryRoot })
    await vi.waitFor(() => expect(isRunning(`sleep\0${mark}`)).toBe(true), 60_000)
    child.kill('SIGKILL')
    await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
  })
})

/** A process of its own, which waits for a command in the sandbox. */
function buildParentScript(isolation: SandboxIsolation, mark: string): string {
  const adapter = path.join(repositoryRoot, 'adapters/sandbox/linux/linux-sandbox.ts')
  const limits = { time_ms: 600_000, cpu_s: 60, memory_bytes: 2 ** 28, disk_bytes: 2 ** 20, output_bytes: 0 }
  const command = {
    ...{ program: '/bin/sleep', args: [mark], inputs: {}, visible: [] },
    limits: { ...limits, processes: 8, open_files: 32 },
  }
  return `import(${JSON.stringify(adapter)}).then(({ linuxSandbox }) => linuxSandbox('${isolation}').run(${JSON.stringify(command)}))`
}
