// The doctor on a machine that is really ill: file systems that are read-only, full or split, and a kernel that watches too little.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { foldersOf } from '../../adapters/transport/filedrop/layout.ts'
import type { Finding } from '../../daemon/boot/offline/finding.ts'
import { peerSite } from '../roles/consensus/peer-messages.ts'
import { whenPresent } from '../support/requires.ts'
import { type SiteWorld, stoppedWorld } from '../support/site-world.ts'
import { root } from '../support/source-tree.ts'

const bravo = await peerSite('bravo', 'tenant-b')
let world: SiteWorld
beforeAll(async () => {
  world = await stoppedWorld({ peers: [bravo.pinned] })
})
afterAll(async () => {
  await world.end()
  bravo.remove()
})

/** Mounts of its own, gone with the shell: nothing else on the machine sees them. */
const isAllowed = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
const onOwnMounts = whenPresent({
  isPresent: isAllowed,
  name: 'mounts of one’s own',
  hint: 'unshare -rm is not allowed',
})

const doctor = `${path.join(root, 'node_modules/.bin/node')} ${path.join(root, 'cli/main.ts')} doctor --json`
const home = () => foldersOf(world.folder.filedrop, 'bravo').home

/** Runs the doctor after these commands, in mounts that they may change. */
function examined(...commands: readonly string[]): Promise<{ exit: number | null; findings: Finding[] }> {
  const script = ['set -e', 'umask 077', ...commands, `exec ${doctor} --site ${path.dirname(world.folder.profile)}`]
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('unshare', ['-rm', 'sh', '-c', script.join('\n')], { env: { PATH, HOME }, stdio: 'pipe' })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (part: Buffer) => (stdout += part.toString()))
  child.stderr.on('data', (part: Buffer) => (stderr += part.toString()))
  return new Promise((resolve, reject) => {
    child.once('close', (exit) => {
      if (stdout === '') reject(new Error(`the doctor said nothing: ${stderr}`))
      else resolve({ exit, findings: JSON.parse(stdout).findings })
    })
  })
}

const about = (findings: readonly Finding[], check: string) =>
  findings.filter((finding) => finding.check === check && finding.state !== 'ok')

/** The channel's folders on a file system of this size. */
const ownSystem = (size: string) => [
  `cp -a ${home()} ${home()}.before`,
  `mount -t tmpfs -o size=${size},mode=700 tmpfs ${home()}`,
  `cp -a ${home()}.before/. ${home()}`,
  `rm -r ${home()}.before`,
]

onOwnMounts('data on a file system that has become read-only', async () => {
  const { data } = world.folder
  const { exit, findings } = await examined(`mount --bind ${data} ${data}`, `mount -o remount,bind,ro ${data}`)
  expect(exit).toBe(5)
  expect(about(findings, 'disk')).toContainEqual(
    expect.objectContaining({
      state: 'problem',
      detail: expect.stringMatching(/^nothing can be written in .*data.*: its file system is read-only/),
      remedy: expect.stringContaining('mount it for writing'),
    }),
  )
})

onOwnMounts('a channel on a file system that is full', async () => {
  const fill = `dd if=/dev/zero of=${home()}/out/sent/fill bs=4k 2>/dev/null || true`
  const { exit, findings } = await examined(...ownSystem('1m'), fill)
  expect(exit).toBe(5)
  expect(about(findings, 'disk')).toContainEqual(
    expect.objectContaining({
      state: 'problem',
      detail: expect.stringMatching(
        /filedrop\/bravo\/out\/tmp: its file system is full \(and in 1 more folders on it\)/,
      ),
      remedy: expect.stringContaining('make room'),
    }),
  )
  expect(fs.readdirSync(home(), { recursive: true }).filter((name) => String(name).includes('.probe'))).toEqual([])
})

onOwnMounts('a channel on a file system with little room', async () => {
  const { exit, findings } = await examined(...ownSystem('64m'))
  expect(exit).toBe(5)
  expect(about(findings, 'disk')).toContainEqual(
    expect.objectContaining({ state: 'problem', detail: expect.stringMatching(/^0\.1 GiB free at .*filedrop\/bravo/) }),
  )
})

onOwnMounts('a folder of the channel that lies on another file system than its siblings', async () => {
  const { findings } = await examined(`mount -t tmpfs -o mode=700 tmpfs ${home()}/in/new`)
  expect(about(findings, 'disk')).toEqual([
    expect.objectContaining({
      state: 'problem',
      detail: expect.stringContaining('in/new'),
      remedy: expect.stringContaining(home()),
    }),
  ])
})

onOwnMounts('a kernel that allows too few watches', async () => {
  const limit = path.join(world.folder.run, '..', 'limit')
  const { exit, findings } = await examined(
    `echo 100 > ${limit}`,
    `mount --bind ${limit} /proc/sys/fs/inotify/max_user_watches`,
  )
  expect(about(findings, 'watchers')).toEqual([
    expect.objectContaining({
      state: 'warning',
      detail: expect.stringContaining('max_user_watches is 100'),
      remedy: expect.stringContaining('sysctl -w fs.inotify.max_user_watches='),
    }),
  ])
  expect(exit).toBe(0)
})
