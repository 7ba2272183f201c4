// Runs the sandbox with each isolation against each requirement, and says what the kernel of this machine gives.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, vi } from 'vitest'
import { linuxSandbox, openSandbox } from '../../adapters/sandbox/linux/linux-sandbox.ts'
import type { SandboxIsolation } from '../../daemon/kernel/sandbox/sandbox.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { whenPresent } from '../support/runner/requires.ts'
import { sandboxLimitRequirements } from './sandbox.ts'
import { sandboxIsolationRequirements } from './sandbox-isolation.ts'
import { isRunning } from './sandbox-requirement.ts'

const opened = await openSandbox()

describe.each<SandboxIsolation>(['namespaces', 'limits'])('%s', (isolation) => {
  const where = whenPresent({
    isPresent: isolation === 'limits' || opened.isolation === 'namespaces',
    name: 'user namespaces',
    hint: opened.shortfall ?? '',
  })

  for (const { id, description, isolations, verify } of [...sandboxLimitRequirements, ...sandboxIsolationRequirements])
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

describe('a machine that gives less', () => {
  const testWithMounts = whenPresent({
    isPresent: spawnSync('unshare', ['--mount', 'true']).status === 0,
    name: 'mounts of one’s own',
    hint: 'unshare --mount is not allowed',
  })

  testWithMounts('without namespaces the limits hold, and the reason is given', () => {
    expect(openWithout('unshare')).toEqual({
      isolation: 'limits',
      shortfall: expect.stringMatching(/^namespaces are not available: .*unshare.*Permission denied/),
    })
  })

  testWithMounts('without util-linux no command runs, and what is needed is named', () => {
    expect(openWithout('setpriv')).toMatch(/no command can be run in a sandbox here: .*; install util-linux/)
  })
})

/** What a process finds that may not run this tool: the sandbox, or the text of the error. */
function openWithout(tool: string): unknown {
  const open = `import(${JSON.stringify(adapter)}).then(({ openSandbox }) => openSandbox()).then(
    (sandbox) => console.log(JSON.stringify(sandbox)), (error) => console.log(JSON.stringify(error.message)))`
  const script = `mount --bind /dev/null "$(command -v ${tool})" && exec "$@"`
  const args = ['--mount', 'sh', '-c', script, 'sh', process.execPath, '-e', open]
  const { stdout, stderr } = spawnSync('unshare', args, { cwd: repositoryRoot, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const adapter = path.join(repositoryRoot, 'adapters/sandbox/linux/linux-sandbox.ts')

/** A process of its own, which waits for a command in the sandbox. */
function buildParentScript(isolation: SandboxIsolation, mark: string): string {
  const limits = { time_ms: 600_000, cpu_s: 60, memory_bytes: 2 ** 28, disk_bytes: 2 ** 20, output_bytes: 0 }
  const command = {
    ...{ program: '/bin/sleep', args: [mark], inputs: {}, visible: [] },
    limits: { ...limits, processes: 8, open_files: 32 },
  }
  return `import(${JSON.stringify(adapter)}).then(({ linuxSandbox }) => linuxSandbox('${isolation}').run(${JSON.stringify(command)}))`
}
