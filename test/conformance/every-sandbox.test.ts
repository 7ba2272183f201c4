// Runs the sandbox with each isolation against each requirement, and says what the kernel of this machine gives.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { openControlGroups } from '../../adapters/sandbox/linux/control-group.ts'
import { linuxSandbox } from '../../adapters/sandbox/linux/linux-sandbox.ts'
import { openSandbox } from '../../adapters/sandbox/linux/open-sandbox.ts'
import { removeAbandonedFolders } from '../../adapters/sandbox/linux/run-folder.ts'
import type { Sandbox, SandboxIsolation, SandboxLimits } from '../../daemon/kernel/sandbox/sandbox.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { whenPresent } from '../support/runner/requires.ts'
import { sandboxLimitRequirements } from './sandbox.ts'
import { sandboxAttacks } from './sandbox-attacks.ts'
import { sandboxIsolationRequirements } from './sandbox-isolation.ts'
import { isRunning, plain_limits, type SandboxRequirement } from './sandbox-requirement.ts'
import { sandboxServerRequirements } from './sandbox-servers.ts'

const groups = await openControlGroups()
const opened = await openSandbox(plain_limits, groups)
process.stderr.write(`sandbox: ${opened.isolation}; shortfalls: ${opened.shortfalls.join('; ') || 'none'}\n`)

const requirements = [
  ...sandboxLimitRequirements,
  ...sandboxIsolationRequirements,
  ...sandboxServerRequirements,
  ...sandboxAttacks,
]

describe.each<SandboxIsolation>(['namespaces', 'limits'])('%s', (isolation) => {
  const where = whenPresent({
    isPresent: isolation === 'limits' || opened.isolation === 'namespaces',
    name: 'user namespaces',
    hint: opened.shortfalls.join('; '),
  })

  for (const { id, description, isolations, verify } of requirements)
    if (isolations.includes(isolation))
      where(`${id}: ${description}`, async () => {
        await verifyWith(verify, linuxSandbox({ isolation, groups }))
      })

  where('what runs in it ends when this process is killed', async () => {
    const mark = `31536000.${process.pid}${isolation.length}`
    const child = spawn(process.execPath, ['-e', buildParentScript(isolation, mark)], { cwd: repositoryRoot })
    for (const kind of ['1', '2']) await vi.waitFor(() => expect(isRunning(`sleep\0${mark}${kind}`)).toBe(true), 60_000)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
    await removeAbandonedFolders()
    expect(fs.readdirSync(tmpdir()).filter((name) => name.includes(`-${child.pid}-`))).toEqual([])
  })
})

async function verifyWith(verify: SandboxRequirement['verify'], sandbox: Sandbox): Promise<void> {
  const dir = fs.mkdtempSync(path.join(tmpdir(), 'sandbox-test-'))
  fs.chmodSync(dir, 0o755)
  try {
    await verify({ sandbox, dir })
  } finally {
    fs.rmSync(dir, { recursive: true, force: true })
  }
}

describe('limits without a control group', () => {
  const asRoot = whenPresent({
    isPresent: process.getuid?.() === 0,
    name: 'root',
    hint: 'a run has no user of its own',
  })
  const names = ['escape-of-group', 'held-output', 'removal', 'memory-of-orphans', 'left-behind', 'memory-files']
  for (const { id, description, verify } of requirements)
    if (names.some((name) => id === `sandbox/${name}`))
      asRoot(`${id}: ${description}`, () => verifyWith(verify, linuxSandbox({ isolation: 'limits' })))
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
      shortfalls: [expect.stringMatching(/^namespaces are not available: .*unshare.*Permission denied/)],
    })
  })

  testWithMounts('without util-linux no command runs, and what is needed is named', () => {
    expect(openWithout('setpriv')).toMatch(/no command can be run in a sandbox here: .*; install util-linux/)
  })

  test('keys that a command would inherit are named', () => {
    const add = `my ($type, $name, $key) = ("user", "canary", "secret"); syscall(${keyctl}, 1, 0);
syscall(${add_key}, $type, $name, $key, 6, -3) > 0 or die $!; exec @ARGV`
    expect(runOpen('perl', ['-e', add, process.execPath, '-e', buildOpenScript(plain_limits)])).toMatchObject({
      shortfalls: expect.arrayContaining([expect.stringMatching(/keys of the session keyring.*KeyringMode=private/)]),
    })
  })

  test('a limit that the site may not set is the site’s fault, and no exit code of a command', () => {
    const narrow = ['--nofile=200:200', process.execPath, '-e', buildOpenScript({ ...plain_limits, open_files: 256 })]
    expect(runOpen('prlimit', narrow)).toMatch(/here: prlimit: .*NOFILE resource limit.*; raise this limit of the site/)
    expect(runOpen('prlimit', [...narrow.slice(0, 3), buildOpenScript(plain_limits)])).toMatchObject({
      isolation: opened.isolation,
    })
  })
})

/** Numbers of system calls, which a script of Perl makes by them. */
const [add_key, keyctl] = process.arch === 'arm64' ? [217, 219] : [248, 250]

/** What a process finds that may not run this tool: the sandbox, or the text of the error. */
function openWithout(tool: string): unknown {
  const script = `mount --bind /dev/null "$(command -v ${tool})" && exec "$@"`
  const open = buildOpenScript(plain_limits)
  return runOpen('unshare', ['--mount', 'sh', '-c', script, 'sh', process.execPath, '-e', open])
}

function buildOpenScript(limits: SandboxLimits): string {
  return `import(${JSON.stringify(`${folder}/open-sandbox.ts`)}).then(({ openSandbox }) => openSandbox(${JSON.stringify(limits)})).then(
    (sandbox) => console.log(JSON.stringify(sandbox)), (error) => console.log(JSON.stringify(error.message)))`
}

function runOpen(program: string, args: readonly string[]): unknown {
  const { stdout, stderr } = spawnSync(program, args, { cwd: repositoryRoot, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const folder = path.join(repositoryRoot, 'adapters/sandbox/linux')

/** A process of its own, which waits for a command and a server in the sandbox: their marks end with 1 and 2. */
function buildParentScript(isolation: SandboxIsolation, mark: string): string {
  const limits = { time_ms: 600_000, cpu_s: 60, memory_bytes: 2 ** 28, disk_bytes: 2 ** 20, output_bytes: 0 }
  const command = {
    ...{ program: '/bin/sleep', args: [`${mark}1`], inputs: {}, visible: [] },
    limits: { ...limits, processes: 8, open_files: 32 },
  }
  const server = { ...command, args: [`${mark}2`], env: {}, network: 'none' }
  return `import(${JSON.stringify(`${folder}/linux-sandbox.ts`)}).then(({ linuxSandbox }) => {
    const sandbox = linuxSandbox({ isolation: '${isolation}' })
    sandbox.run(${JSON.stringify(command)})
    sandbox.serve(${JSON.stringify(server)}, () => undefined, new AbortController().signal)
  })`
}
