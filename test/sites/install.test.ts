// The packaged executable installs itself below a folder that stands for the machine: plan, drift, crash, repeat, roles, removal.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { product } from '../../adapters/platform/product/product.ts'
import { verifyBundle } from '../../daemon/offline/bundle/verify-bundle.ts'
import { sealBundle, signByKeys } from '../../scripts/release-steps/seal-bundle.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { findExecutable, runExecutableSync } from '../support/command/run-executable.ts'
import { writeReleaseKeys } from '../support/release/build-bundle.ts'
import { findTools, whenPresent } from '../support/runner/requires.ts'
import { endProcess, startDaemon } from '../support/site/daemon-process.ts'
import { waitUntil } from '../support/site/test-site.ts'

const tools = findTools('systemd-analyze', 'mandoc', 'useradd', 'setpriv')
const isRoot = process.getuid?.() === 0
const test = whenPresent(isRoot ? tools : { isPresent: false, name: 'root', hint: 'only root can install' })

const answers = 'format: 1\nsite: { name: alpha, tenant: acme, port_base: 29400, roles: [site, consensus] }\n'
const { dir, remove } = createScratchFolder('install')
const daemons = new Set<ChildProcess>()
const at = (...names: readonly string[]) => path.join(dir, ...names)
const bundle = { folder: at('bundle'), ...writeReleaseKeys(at('release')) }
const fromBundle = ['--bundle', bundle.folder, '--keys', bundle.keys]
const unit = '/etc/systemd/system/platform-site.service'

beforeAll(() => {
  fs.chmodSync(dir, 0o755)
  fs.mkdirSync(at('etc/platform'), { recursive: true })
  sealOwnBundle()
  fs.writeFileSync(at('etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  fs.writeFileSync(at('etc/group'), 'root:x:0:\n')
  fs.writeFileSync(at('etc/platform/answers.yaml'), answers)
})
afterAll(async () => {
  await Promise.all([...daemons].map((child) => endProcess(child, 'SIGKILL')))
  remove()
})

/** The executable of these sources and one document, signed. */
function sealOwnBundle(): void {
  fs.mkdirSync(path.join(bundle.folder, 'docs'), { recursive: true })
  fs.copyFileSync(findExecutable(), path.join(bundle.folder, 'platform'), fs.constants.COPYFILE_FICLONE)
  fs.writeFileSync(path.join(bundle.folder, 'docs/guide.md'), '# Guide\n', { mode: 0o644 })
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64'
  const about = { version: product.version, commit: 'a'.repeat(40), date: '2026-11-01T00:00:00Z', arch } as const
  sealBundle({ folder: bundle.folder, about, signer: signByKeys(bundle.signing) })
}

const install = (...options: readonly string[]) => runExecutableSync(['install', '--root', dir, ...options])

/** Owner, mode, size and time of every path: equal only if nothing was touched. */
function listPaths(): string {
  return execFileSync('find', [dir, '-printf', '%p %U:%G %m %s %T@\n'], { encoding: 'utf8', maxBuffer: 1 << 26 })
}

/** Kills the installation as soon as it reports this step. */
async function installUntil(step: string): Promise<void> {
  const child = spawn(findExecutable(), ['install', '--root', dir, ...fromBundle], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let report = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    report += text
    if (report.includes(step)) child.kill('SIGKILL')
  })
  await once(child, 'close')
  expect(report).toContain(step)
  expect(child.signalCode).toBe('SIGKILL')
}

describe('an installation', () => {
  test('is planned and checked without a change', () => {
    const before = listPaths()
    const plan = install('--plan', ...fromBundle)
    expect(plan.exit).toBe(0)
    expect(plan.stdout).toMatch(/create\s+user platform-consensus/)
    expect(install('--check').exit).toBe(5)
    expect(listPaths()).toBe(before)
  })

  test('goes on after it was killed, and a repeat changes nothing', async () => {
    await installUntil('create file /etc/sysusers.d/platform.conf')
    expect(install('--check').exit).toBe(5)
    await installUntil('create link /etc/systemd/system/multi-user.target.wants/platform.target')
    fs.appendFileSync(path.join(bundle.folder, 'docs/guide.md'), 'added\n')
    expect(install(...fromBundle)).toMatchObject({ exit: 5, stderr: expect.stringContaining('docs/guide.md') })
    fs.truncateSync(path.join(bundle.folder, 'docs/guide.md'), '# Guide\n'.length)
    expect(install(...fromBundle)).toMatchObject({ exit: 0, stdout: expect.stringMatching(/steps done/) })
    const installed = { folder: at('usr/local/lib/platform/releases', product.version), keys: bundle.keys }
    expect(verifyBundle(installed).manifest.version).toBe(product.version)
    const before = listPaths()
    expect(install()).toMatchObject({ exit: 0, stdout: expect.stringMatching(/nothing to change/), stderr: '' })
    expect(install('--check').exit).toBe(0)
    expect(listPaths()).toBe(before)
  })

  test('refuses a file that was changed, and replaces it only if it is to', () => {
    const made = fs.readFileSync(at(unit), 'utf8')
    fs.appendFileSync(at(unit), '# by hand\n')
    fs.chmodSync(at('etc/tmpfiles.d/platform.conf'), 0o666)
    const refused = install()
    expect(refused.exit).toBe(3)
    expect(refused.stderr).toContain(`${unit}: it was changed since (--overwrite replaces it)`)
    expect(fs.statSync(at('etc/tmpfiles.d/platform.conf')).mode & 0o777).toBe(0o666)
    expect(install('--check').exit).toBe(5)
    expect(install('--overwrite').exit).toBe(0)
    expect(fs.readFileSync(at(unit), 'utf8')).toBe(made)
    expect(install('--check').exit).toBe(0)
  })

  test('does not follow links, nor folders that others may write', () => {
    const moved = at('etc/tmpfiles.moved')
    fs.renameSync(at('etc/tmpfiles.d'), moved)
    fs.symlinkSync(moved, at('etc/tmpfiles.d'))
    expect(install()).toMatchObject({
      exit: 3,
      stderr: expect.stringMatching(/tmpfiles.d: it is not a folder|is a link/),
    })
    fs.unlinkSync(at('etc/tmpfiles.d'))
    fs.renameSync(moved, at('etc/tmpfiles.d'))
    fs.chmodSync(at('usr/local/share'), 0o777)
    expect(install()).toMatchObject({ exit: 3, stderr: expect.stringContaining('other users may write') })
    fs.chmodSync(at('usr/local/share'), 0o755)
    expect(install('--check').exit).toBe(0)
  })

  test('has units that systemd accepts and rates below 2.0', () => {
    for (const role of ['site', 'consensus']) {
      const rated = execFileSync(
        'systemd-analyze',
        ['security', '--offline=true', `--root=${dir}`, `platform-${role}.service`],
        {
          encoding: 'utf8',
          env: { ...process.env, LC_ALL: 'C' },
        },
      )
      expect(Number(/exposure level for [^:]+: ([\d.]+)/.exec(rated)?.[1])).toBeLessThan(2)
    }
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', `--root=${dir}`, 'platform-site.service'], {
      encoding: 'utf8',
    })
    // The targets of the system itself are not in this folder.
    expect(stderr.split('\n').filter((line) => line !== '' && !/Unit sysinit.target not found/.test(line))).toEqual([])
  })

  test('has a man page for every command, without a fault', () => {
    const folder = at('usr/local/share/man/man1')
    const pages = fs.readdirSync(folder)
    expect(pages).toContain('platform-keys-cert-issue.1')
    const { stdout } = spawnSync('mandoc', ['-Tlint', '-W', 'warning', ...pages], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
    // The pages are equal for one version, whichever day it was built.
    expect(stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date'))).toEqual([])
  })

  test('starts each role by the line of its unit, as its user', async () => {
    const accounts = fs.readFileSync(at('etc/passwd'), 'utf8').split('\n')
    for (const role of ['site', 'consensus']) {
      const text = fs.readFileSync(at(`etc/systemd/system/platform-${role}.service`), 'utf8')
      const [, user, command] = /^User=(.*)\n[\s\S]*^ExecStart=(.*)$/m.exec(text) ?? []
      const [, , uid, gid] = accounts.find((line) => line.startsWith(`${user}:`))?.split(':') ?? []
      const [program = '', ...words] = (command ?? '')
        .split(' ')
        .map((word) => (word.startsWith('/') ? at(word) : word))
      const { daemon } = await startDaemon(
        { program, words, log: at(`${role}.log`), user: { uid: Number(uid), gid: Number(gid) }, cwd: '/' },
        daemons,
      )
      expect(daemon.hasEnded()).toBe(false)
    }
    expect(runExecutableSync(['status', '--site', at('var/lib/platform/site'), '--json']).stdout).toContain('consensus')
    await Promise.all([...daemons].map((child) => endProcess(child, 'SIGTERM')))
  })

  test('runs without systemd: the supervisor starts the roles, and again after a failure', async () => {
    fs.writeFileSync(at('etc/platform/answers.yaml'), `${answers}service_manager: script\n`)
    expect(install().exit).toBe(0)
    expect(fs.existsSync(at(unit))).toBe(false)
    const numbers = Object.fromEntries(
      ['passwd', 'group'].flatMap((file) =>
        fs
          .readFileSync(at('etc', file), 'utf8')
          .split('\n')
          .map((line) => line.split(':'))
          .map(([name, , id]) => [name, id]),
      ),
    )
    // This machine does not have the users of the folder, nor its paths.
    const script = fs
      .readFileSync(at('usr/local/lib/platform/supervise'), 'utf8')
      .replaceAll(/supervise (\w+) ([\w-]+) &/g, (_, role, user) => `supervise ${role} ${numbers[user]} &`)
      .replace('--regid platform', `--regid ${numbers.platform}`)
      .replaceAll('/usr/local/bin/platform', at('usr/local/bin/platform'))
      .replaceAll('/var/lib/platform/site', at('var/lib/platform/site'))
    fs.writeFileSync(at('supervise'), script)
    const log = fs.openSync(at('supervise.log'), 'w')
    const supervisor = spawn('/bin/sh', [at('supervise')], { stdio: ['ignore', log, log] })
    daemons.add(supervisor)
    const readReady = () =>
      fs
        .readFileSync(at('supervise.log'), 'utf8')
        .split('\n')
        .filter((line) => line.includes('"platform.ready"'))
    await waitUntil(() => readReady().length === 2 || undefined)
    const pid = findServing('consensus')
    expect(fs.statSync(`/proc/${pid}`).uid).toBe(Number(numbers['platform-consensus']))
    process.kill(pid, 'SIGKILL')
    await waitUntil(() => readReady().length === 3 || undefined)
    expect(findServing('consensus')).not.toBe(pid)
    expect(await endProcess(supervisor, 'SIGTERM')).toBe(0)
    daemons.delete(supervisor)
    expect(listServing()).toEqual([])
  })

  test('is removed without the data, and without what was changed by hand', () => {
    fs.appendFileSync(at('usr/local/lib/platform/supervise'), '# by hand\n')
    expect(runExecutableSync(['uninstall', '--root', dir]).exit).toBe(3)
    const removed = runExecutableSync(['uninstall', '--root', dir, '--yes'])
    expect(removed.exit).toBe(0)
    expect(removed.stdout).toMatch(/keep\s+file\s+\/usr\/local\/lib\/platform\/supervise\s+it was changed/)
    const left = execFileSync('find', [at('usr'), at('etc'), at('var'), '-not', '-type', 'd'], {
      encoding: 'utf8',
    }).split('\n')
    expect(
      left
        .filter((file) => file !== '' && !file.startsWith(at('var/lib/platform/site/')))
        .map((file) => path.relative(dir, file))
        .sort(),
    ).toEqual([
      'etc/group',
      'etc/group-',
      'etc/passwd',
      'etc/passwd-',
      'etc/platform/answers.yaml',
      'usr/local/lib/platform/supervise',
    ])
    expect(fs.existsSync(at('var/lib/platform/site/profile.yaml'))).toBe(true)
    expect(runExecutableSync(['uninstall', '--root', dir, '--yes']).exit).toBe(3)
  })
})

/** Processes that serve a role from this folder, with their words. */
function listServing(): { pid: number; words: string[] }[] {
  return fs.readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    const file = `/proc/${name}/cmdline`
    const words = fs.existsSync(file) ? readOrNothing(file).split('\0') : []
    return words[0] === at('usr/local/bin/platform') && words[1] === 'serve' ? [{ pid: Number(name), words }] : []
  })
}

function readOrNothing(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function findServing(role: string): number {
  return listServing().find(({ words }) => words[2] === role)?.pid ?? 0
}
