// Another user of the machine: no file, folder or socket of a running site can be read, written or connected to.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { roleSocketFile } from '../../../daemon/boot/storage/site-folder.ts'
import { findTools, whenPresent } from '../../support/runner/requires.ts'
import {
  everyRoleSections,
  type SingleClusterSite,
  startSingleClusterSite,
} from '../../support/site/single-cluster-site.ts'

const root = { isPresent: process.getuid?.() === 0, name: 'root and find', hint: 'only root can act as another user' }
const asOther = whenPresent({ ...root, isPresent: root.isPresent && findTools('find').isPresent })
/** `nobody`, which owns nothing. */
const other = { uid: 65_534, gid: 65_534, encoding: 'utf8' } as const

let site: SingleClusterSite
beforeAll(async () => {
  site = await startSingleClusterSite(everyRoleSections)
  const token = await site.token({ roles: ['admin'] })
  const body = { lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, classification: 'UNCLASSIFIED' }
  const path = '/api/v2/consensus/session'
  expect((await site.request('consensus', { method: 'POST', path, token, body })).status).toBe(201)
})
afterAll(() => site?.close())

const siteDir = () => dirname(site.folder.profile)

function listEverything(): { path: string; stat: fs.Stats }[] {
  const names = fs.readdirSync(siteDir(), { recursive: true }) as string[]
  return ['', ...names].flatMap((name) => {
    const path = join(siteDir(), name)
    // A file of the running site may vanish after the listing.
    const stat = fs.lstatSync(path, { throwIfNoEntry: false })
    return stat ? [{ path, stat }] : []
  })
}

test('each file, folder and socket has rights for its owner alone, one name, and the owner of the site', () => {
  const all = listEverything()
  expect(all.length).toBeGreaterThan(40)
  expect(all.filter(({ stat }) => stat.isSocket()).length).toBeGreaterThan(4)
  const open = all.filter(({ stat }) => (stat.mode & 0o077) !== 0 || stat.uid !== process.getuid?.())
  const linked = all.filter(({ stat }) => stat.isSymbolicLink() || (stat.isFile() && stat.nlink !== 1))
  expect([...open, ...linked].map(({ path }) => path)).toEqual([])
})

asOther('another user finds nothing to read or write, though the folders above are open', () => {
  const before = fs.statSync(site.dir).mode
  fs.chmodSync(site.dir, 0o755)
  try {
    const words = [siteDir(), '(', '-readable', '-o', '-writable', ')', '-print']
    const { stdout, error } = spawnSync('find', words, other)
    expect(error).toBeUndefined()
    expect(stdout).toBe('')
    // Each of them by its name, which the user may know.
    const paths = listEverything().map(({ path }) => path)
    const script = 'for file do if [ -r "$file" ] || [ -w "$file" ] || [ -x "$file" ]; then echo "$file"; fi; done'
    expect(spawnSync('sh', ['-c', script, 'sh', ...paths], other).stdout).toBe('')
  } finally {
    fs.chmodSync(site.dir, before)
  }
})

asOther('another user connects to no socket', () => {
  fs.chmodSync(site.dir, 0o755)
  const node = copyNode()
  try {
    const sockets = ['site', 'consensus', 'hub', 'resolution', 'intelligence', 'proxy'].map((role) =>
      roleSocketFile(site.folder, role),
    )
    const script = `for (const path of process.argv.slice(1)) require('net').connect(path).on('connect', () => console.log('connected', path)).on('error', ({ code }) => console.log(code))`
    const { stdout } = spawnSync(node, ['-e', script, ...sockets], other)
    expect(stdout.trim().split('\n')).toEqual(sockets.map(() => 'EACCES'))
  } finally {
    fs.rmSync(join(node, '..'), { recursive: true })
    fs.chmodSync(site.dir, 0o700)
  }
})

/** Where the other user may run it. */
function copyNode(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'node-'))
  fs.chmodSync(folder, 0o755)
  const path = join(folder, 'node')
  fs.copyFileSync(process.execPath, path)
  fs.chmodSync(path, 0o755)
  return path
}
