// Pinned peers on disk: what another process enrols or removes counts at once, and nothing doubtful counts at all.
import { chmodSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import { type Peer, peer } from '../../daemon/kernel/identity/peer.ts'
import { createFolder, noon } from './identity-fixture.ts'

async function createPeerFolder(): Promise<{ dir: string; bravo: Peer }> {
  const root = createFolder()
  const key = await generateKey(join(root, 'keys'), { use: 'message', now: noon })
  const ceiling = { policy: 'default', level: 'SECRET', originator: 'alpha' }
  const bravo = peer.parse({
    name: 'bravo',
    tenant_id: 'bravo',
    keys: [key],
    ceiling,
    enrolled: '2026-01-01T12:00:00Z',
  })
  return { dir: join(root, 'peers'), bravo }
}

test('pins a peer, reads it, replaces it only on demand, and removes it; another process sees each change at once', async () => {
  const { dir, bravo } = await createPeerFolder()
  const [writer, reader] = [peerFiles(dir), peerFiles(dir)]
  expect(await reader.list()).toEqual([])
  await writer.add(bravo)
  expect(await reader.list()).toEqual([bravo])
  await expect(writer.add({ ...bravo, threshold: 2 })).rejects.toThrow('pinned already')
  for (let threshold = 2; threshold < 12; threshold += 1) {
    await writer.add({ ...bravo, threshold }, { replace: true })
    expect((await reader.get('bravo'))?.threshold).toBe(threshold)
  }
  await writer.add({ ...bravo, name: 'alpha-2' })
  expect((await reader.list()).map((each) => each.name)).toEqual(['alpha-2', 'bravo'])
  expect(await writer.remove('bravo')).toBe(true)
  expect(await writer.remove('bravo')).toBe(false)
  expect(await reader.get('bravo')).toBeUndefined()
})

test('files are for their owner alone and nothing is left beside them', async () => {
  const { dir, bravo } = await createPeerFolder()
  await peerFiles(dir).add(bravo)
  expect(readdirSync(dir)).toEqual(['bravo.json'])
  expect(statSync(join(dir, 'bravo.json')).mode & 0o777).toBe(0o600)
  expect(statSync(dir).mode & 0o777).toBe(0o700)
})

test('a change within one step of the clock, of the same size, is seen', async () => {
  const { dir, bravo } = await createPeerFolder()
  const peers = peerFiles(dir)
  const file = join(dir, 'bravo.json')
  await peers.add({ ...bravo, threshold: 1 })
  const { atime, mtime } = statSync(file)
  expect((await peers.get('bravo'))?.threshold).toBe(1)
  writeFileSync(file, readFileSync(file, 'utf8').replace('"threshold": 1', '"threshold": 3'))
  utimesSync(file, atime, mtime)
  expect((await peers.get('bravo'))?.threshold).toBe(3)
})

test('a file that others may read, that has another name, or that is not a peer stops all', async () => {
  const { dir, bravo } = await createPeerFolder()
  const peers = peerFiles(dir)
  await peers.add(bravo)
  const file = join(dir, 'bravo.json')
  chmodSync(file, 0o644)
  await expect(peers.list()).rejects.toThrow(`chmod 600 ${file}`)
  chmodSync(file, 0o600)
  renameSync(file, join(dir, 'charlie.json'))
  await expect(peers.list()).rejects.toThrow('not the peer that it is named after')
  renameSync(join(dir, 'charlie.json'), file)
  expect(await peers.list()).toEqual([bravo])
  writeFileSync(join(dir, 'bravo.txt'), '')
  await expect(peers.list()).rejects.toThrow('is not a peer file')
})

test('a name never leads out of the folder', async () => {
  const { dir, bravo } = await createPeerFolder()
  const peers = peerFiles(dir)
  await peers.add(bravo)
  await expect(peers.add({ ...bravo, name: '../keys/x' })).rejects.toThrow()
  expect(await peers.remove('../peers/bravo')).toBe(false)
  expect(await peers.list()).toEqual([bravo])
})
