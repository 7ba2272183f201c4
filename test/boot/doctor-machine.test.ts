// The doctor on a machine that is really ill: file systems that are read-only, full or split, and a kernel that watches too little.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { parse, stringify } from 'yaml'
import { foldersOf } from '../../adapters/transport/filedrop/files/channel-folders.ts'
import type { DoctorFinding } from '../../daemon/offline/doctor/finding.ts'
import { createPeerSite } from '../roles/consensus/peer-site.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'
import { whenPresent } from '../support/runner/requires.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
let world: TestSite
beforeAll(async () => {
  world = await createTestSite({ peers: [bravo.pinned] })
})
afterAll(async () => {
  await world.end()
  bravo.remove()
})

/** Mounts of its own, gone with the shell: nothing else on the machine sees them. */
const isAllowed = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
const testWithMounts = whenPresent({
  isPresent: isAllowed,
  name: 'mounts of one’s own',
  hint: 'unshare -rm is not allowed',
})

const doctor = `${path.join(repositoryRoot, 'node_modules/.bin/node')} ${path.join(repositoryRoot, 'cli/main.ts')} doctor --json`
const home = () => foldersOf(world.folder.filedrop, 'bravo').home

/** Runs the doctor after these commands, in mounts that they may change. */
function runDoctor(...commands: readonly string[]): Promise<{ exit: number | null; findings: DoctorFinding[] }> {
  const script = ['set -e', 'umask 077', ...commands, `exec ${doctor} --site ${path.dirname(world.folder.profile)}`]
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('unshare', ['-rm', 'sh', '-c', script.join('\n')], { env: { PATH, HOME }, stdio: 'pipe' })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (part: Buffer) => (stdout += part.toString()))
  child.stderr.on('data', (part: Buffer) => (stderr += part.toString()))
  return new Promise((resolve, reject) => {
    child.once('close', (exit) => {
      if (stdout === '') reject(new Error(`the doctor printed nothing: ${stderr}`))
      else resolve({ exit, findings: JSON.parse(stdout).findings })
    })
  })
}

const selectFindings = (findings: readonly DoctorFinding[], check: string) =>
  findings.filter((finding) => finding.check === check && finding.state !== 'ok')

/** The channel's folders on a file system of this size. */
const mountChannelFolders = (size: string) => [
  `cp -a ${home()} ${home()}.before`,
  `mount -t tmpfs -o size=${size},mode=700 tmpfs ${home()}`,
  `cp -a ${home()}.before/. ${home()}`,
  `rm -r ${home()}.before`,
]

testWithMounts('data on a file system that has become read-only', async () => {
  const { data } = world.folder
  const { exit, findings } = await runDoctor(`mount --bind ${data} ${data}`, `mount -o remount,bind,ro ${data}`)
  expect(exit).toBe(5)
  expect(selectFindings(findings, 'disk')).toContainEqual(
    expect.objectContaining({
      state: 'problem',
      detail: expect.stringMatching(/^nothing can be written in .*data.*: its file system is read-only/),
      remedy: expect.stringContaining('mount it for writing'),
    }),
  )
})

testWithMounts('a channel on a file system that is full', async () => {
  const fill = `dd if=/dev/zero of=${home()}/out/sent/fill bs=4k 2>/dev/null || true`
  const { exit, findings } = await runDoctor(...mountChannelFolders('1m'), fill)
  expect(exit).toBe(5)
  expect(selectFindings(findings, 'disk')).toContainEqual(
    expect.objectContaining({
      state: 'problem',
      detail: expect.stringMatching(
        /filedrop\/bravo\/out\/tmp: its file system is full \(and in 1 more folders on it\)/,
      ),
      remedy: expect.stringContaining('free some space'),
    }),
  )
  expect(fs.readdirSync(home(), { recursive: true }).filter((name) => String(name).includes('.probe'))).toEqual([])
})

testWithMounts('a channel on a file system with little room', async () => {
  const { exit, findings } = await runDoctor(...mountChannelFolders('64m'))
  expect(exit).toBe(5)
  expect(selectFindings(findings, 'disk')).toContainEqual(
    expect.objectContaining({ state: 'problem', detail: expect.stringMatching(/^0\.1 GiB free at .*filedrop\/bravo/) }),
  )
})

testWithMounts('a folder of the channel that lies on another file system than its siblings', async () => {
  const { findings } = await runDoctor(`mount -t tmpfs -o mode=700 tmpfs ${home()}/in/new`)
  expect(selectFindings(findings, 'disk')).toEqual([
    expect.objectContaining({
      state: 'problem',
      detail: expect.stringContaining('in/new'),
      remedy: expect.stringContaining(home()),
    }),
  ])
})

testWithMounts('a kernel that gives a scanner no namespaces', async () => {
  const profile = fs.readFileSync(world.folder.profile, 'utf8')
  fs.writeFileSync(world.folder.profile, `${profile}\nfiledrop: { scanner: { command: [/bin/true] } }\n`)
  const runs = [await runDoctor('true'), await runDoctor('mount --bind /dev/null "$(command -v unshare)"')]
  const failing = fs.readFileSync(world.folder.profile, 'utf8').replace('/bin/true', '/bin/false')
  fs.writeFileSync(world.folder.profile, failing)
  const broken = await runDoctor('true')
  fs.writeFileSync(world.folder.profile, profile)
  const [strong, weak] = runs.map(({ findings }) => findings.filter(({ check }) => check === 'sandbox'))
  expect(strong).toEqual([expect.objectContaining({ state: 'ok', detail: expect.stringContaining('no network') })])
  expect(weak).toEqual([
    expect.objectContaining({
      state: 'warning',
      detail: expect.stringMatching(
        /^only limits bound the scanner: namespaces are not available: .*Permission denied/,
      ),
      remedy: expect.stringContaining('user.max_user_namespaces'),
    }),
  ])
  expect((runs[0]?.findings ?? []).filter(({ check }) => check === 'scanner')).toMatchObject([{ state: 'ok' }])
  expect(selectFindings(broken.findings, 'scanner')).toMatchObject([
    {
      state: 'problem',
      detail: 'the scanner refuses a clean body (exit code 1)',
      remedy: expect.stringContaining('visible'),
    },
  ])
})

testWithMounts('a kernel that gives a tool server no namespaces', async () => {
  const profile = fs.readFileSync(world.folder.profile, 'utf8')
  const { platform, gateway, ...others } = parse(profile) as Record<string, { roles?: string[] }>
  const roles = [...(platform?.roles ?? []), 'gateway']
  const stdio_servers = { maps: { command: ['/bin/cat'] }, gone: { command: ['/usr/bin/gone'] } }
  const changed = { ...others, platform: { ...platform, roles }, gateway: { ...gateway, stdio_servers } }
  fs.writeFileSync(world.folder.profile, stringify(changed))
  const runs = [await runDoctor('true'), await runDoctor('mount --bind /dev/null "$(command -v unshare)"')]
  fs.writeFileSync(world.folder.profile, profile)
  const [strong, weak] = runs.map(({ findings }) => findings.filter(({ check }) => check === 'stdio'))
  expect(strong).toMatchObject([
    { state: 'ok', detail: expect.stringContaining('maps') },
    { state: 'problem', detail: 'gone: /usr/bin/gone is not a program' },
  ])
  expect(weak).toMatchObject([
    {
      state: 'problem',
      detail: expect.stringMatching(/no server is started: namespaces are not available: .*Permission denied/),
      remedy: expect.stringContaining('user.max_user_namespaces'),
    },
  ])
})

testWithMounts('a kernel that allows too few watches', async () => {
  const limit = path.join(world.folder.run, '..', 'limit')
  const { exit, findings } = await runDoctor(
    `echo 100 > ${limit}`,
    `mount --bind ${limit} /proc/sys/fs/inotify/max_user_watches`,
  )
  expect(selectFindings(findings, 'watchers')).toEqual([
    expect.objectContaining({
      state: 'warning',
      detail: expect.stringContaining('max_user_watches is 100'),
      remedy: expect.stringContaining('sysctl -w fs.inotify.max_user_watches='),
    }),
  ])
  expect(exit).toBe(0)
})
