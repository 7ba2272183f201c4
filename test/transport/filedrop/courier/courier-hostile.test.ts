// A medium may hold anything: only files signed for, by a pinned site, for this one, come in.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { canonicalJson } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { createMedium, exportFromAlpha, importAtBravo } from '../../../support/filedrop/courier-fixture.ts'
import {
  buildPeer,
  type FiledropSite,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  sendFromAlpha,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'

const test = filedropTest.extend({
  options: { receiving: ['alpha', 'bravo'], peer: { inventory_interval_s: 400 * 86_400 } },
})
let media: string
let folder: string
test.beforeEach(async ({ sites }) => {
  media = createMedium(sites)
  await sendFromAlpha(sites, 3)
  folder = join(media, (await exportFromAlpha(sites, media)).folders[0] ?? '')
})

const formatName = (seq: number, part: 'body' | 'env') => `00000001-${String(seq).padStart(16, '0')}.${part}.json`
const formatPath = (seq: number, part: 'body' | 'env') => join(folder, formatName(seq, part))
const listFresh = (sites: FiledropSites) => fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').fresh)
const listNumbers = async (sites: FiledropSites) => {
  await sites.bravo.transport.rescan()
  return sites.bravo.received.map(({ statement }) => statement.seq)
}

type ManifestContent = Record<string, unknown> & { files: { name: string; bytes: number; sha384: string }[] }

/** Signs the manifest anew, with changes. */
async function resignManifest(
  sites: FiledropSites,
  change: (manifest: ManifestContent) => Record<string, unknown>,
  by: FiledropSite = sites.alpha,
): Promise<void> {
  const { payload } = JSON.parse(fs.readFileSync(join(folder, 'MANIFEST.json'), 'utf8'))
  const manifest = JSON.parse(Buffer.from(payload, 'base64url').toString()) as ManifestContent
  const note = await by.signatures.sign('manifest', Buffer.from(canonicalJson(change(manifest))))
  fs.writeFileSync(join(folder, 'MANIFEST.json'), JSON.stringify(note))
}

describe('a file', () => {
  const swaps: [string, (path: string, sites: FiledropSites) => void, RegExp][] = [
    ['that is missing', (path) => fs.rmSync(path), /missing/],
    ['that was changed', (path) => fs.appendFileSync(path, ' '), /differs from the manifest|TOO_LARGE/],
    ['that is shorter', (path) => fs.truncateSync(path, 10), /differs from the manifest/],
    [
      'that is a link, even to the very bytes',
      (path, sites) => {
        fs.renameSync(path, join(sites.dir, 'elsewhere'))
        fs.symlinkSync(join(sites.dir, 'elsewhere'), path)
      },
      /NOT_REGULAR/,
    ],
    ['with another name to it', (path, sites) => fs.linkSync(path, join(sites.dir, 'other')), /HARDLINK/],
    [
      'that is a pipe',
      (path) => {
        fs.rmSync(path)
        execFileSync('mkfifo', [path])
      },
      /NOT_REGULAR/,
    ],
    [
      'that is a folder',
      (path) => {
        fs.rmSync(path)
        fs.mkdirSync(path)
      },
      /NOT_REGULAR/,
    ],
    ['of five gigabytes', (path) => fs.truncateSync(path, 5 * 2 ** 30), /TOO_LARGE/],
  ]

  test.for(
    swaps.flatMap(([what, act, why]) => (['body', 'env'] as const).map((part) => [what, part, act, why] as const)),
  )('reports %s (%s), leaves its message out whole, and takes the others', async ([_, part, act, why], { sites }) => {
    act(formatPath(2, part), sites)
    const { messages, faults } = await importAtBravo(sites, media)
    expect([messages, faults]).toEqual([
      2,
      [{ file: expect.stringContaining(formatName(2, part)), why: expect.stringMatching(why) }],
    ])
    expect(listFresh(sites)).toHaveLength(4)
    expect(await listNumbers(sites)).toEqual([1, 3])
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toEqual([])
  })

  test('that no manifest names is left where it lies', async ({ sites }) => {
    fs.copyFileSync(formatPath(1, 'env'), join(folder, '00000001-0000000000000099.env.json'))
    fs.writeFileSync(join(folder, 'autorun.inf'), 'x')
    expect(await importAtBravo(sites, media)).toMatchObject({ messages: 3, faults: [] })
    expect(listFresh(sites)).toHaveLength(6)
  })

  test('that is swapped while it is read is either what was signed for, or nothing', async ({ sites }) => {
    const sound = fs.readFileSync(formatPath(2, 'body'))
    let looks = 0
    const hands = {
      site: <T>(act: () => T) => act(),
      medium<T>(act: () => T): T {
        // Each look finds another file than the one before.
        fs.writeFileSync(formatPath(2, 'body'), looks++ % 3 === 0 ? sound : Buffer.alloc(sound.length, 'x'))
        return act()
      },
    }
    for (let i = 0; i < 6; i++) await importAtBravo(sites, media, { steps: hands })
    expect(new Set(await listNumbers(sites))).toEqual(new Set([1, 2, 3]))
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toEqual([])
  })
})

describe('a manifest', () => {
  const away = '../../../../etc/passwd'
  test.for<[string, (manifest: ManifestContent) => Record<string, unknown>]>([
    ['that names a file above', (manifest) => ({ ...manifest, files: [{ ...manifest.files[0], name: away }] })],
    [
      'that names what no message has',
      (manifest) => ({ ...manifest, files: [{ ...manifest.files[0], name: 'x.json' }] }),
    ],
    ['that names a file twice', (manifest) => ({ ...manifest, files: [...manifest.files, manifest.files[0]] })],
    ['of another channel', (manifest) => ({ ...manifest, channel: 'filedrop/charlie/bravo' })],
    ['from a site that is not pinned', (manifest) => ({ ...manifest, src: 'charlie' })],
    ['of another medium', (manifest) => ({ ...manifest, medium: '0'.repeat(16) })],
    ['with a member that the format does not know', (manifest) => ({ ...manifest, more: 1 })],
    ['of a later version', (manifest) => ({ ...manifest, v: 2 })],
    ['without a file', (manifest) => ({ ...manifest, files: [] })],
  ])('%s brings nothing', async ([_, change], { sites }) => {
    await resignManifest(sites, change)
    const { messages, faults } = await importAtBravo(sites, media)
    expect([messages, faults.length, listFresh(sites)]).toEqual([0, 1, []])
  })

  test('for another site is not this site’s affair', async ({ sites }) => {
    await resignManifest(sites, (manifest) => ({ ...manifest, dst: 'charlie' }))
    expect(await importAtBravo(sites, media)).toMatchObject({ messages: 0, for_others: 1, faults: [] })
  })

  test.for<[string, (sites: FiledropSites) => Promise<void> | void]>([
    ['by another site’s key', (sites) => resignManifest(sites, (manifest) => manifest, sites.bravo)],
    [
      'by a key that has been revoked',
      (sites) => {
        const pinned = buildPeer(sites.alpha)
        sites.bravo.pinned.set('alpha', { ...pinned, keys: pinned.keys.map((key) => ({ ...key, status: 'revoked' })) })
      },
    ],
    [
      'by fewer keys than the peer needs',
      (sites) => void sites.bravo.pinned.set('alpha', buildPeer(sites.alpha, { threshold: 2 })),
    ],
    [
      'of another signature type',
      async (sites) => {
        const { payload } = JSON.parse(fs.readFileSync(join(folder, 'MANIFEST.json'), 'utf8'))
        const note = await sites.alpha.signatures.sign('evidence', Buffer.from(payload, 'base64url'))
        fs.writeFileSync(join(folder, 'MANIFEST.json'), JSON.stringify(note))
      },
    ],
    ['that is not JSON', () => fs.writeFileSync(join(folder, 'MANIFEST.json'), '{"payload":')],
    ['of a gigabyte', () => fs.truncateSync(join(folder, 'MANIFEST.json'), 2 ** 30)],
    ['that is not there', () => fs.rmSync(join(folder, 'MANIFEST.json'))],
    [
      'that is a link',
      (sites) => {
        fs.renameSync(join(folder, 'MANIFEST.json'), join(sites.dir, 'elsewhere'))
        fs.symlinkSync(join(sites.dir, 'elsewhere'), join(folder, 'MANIFEST.json'))
      },
    ],
  ])('%s brings nothing', async ([_, act], { sites }) => {
    await act(sites)
    const { messages, faults } = await importAtBravo(sites, media)
    expect([messages, faults.length, listFresh(sites)]).toEqual([0, 1, []])
  })

  test('that names half a message brings the whole ones', async ({ sites }) => {
    await resignManifest(sites, (manifest) => ({
      ...manifest,
      files: manifest.files.filter(({ name }) => name !== formatName(2, 'body')),
    }))
    const { messages, faults } = await importAtBravo(sites, media)
    expect([messages, faults.map((fault) => fault.file)]).toEqual([2, [expect.stringContaining(formatName(2, 'env'))]])
    expect(await listNumbers(sites)).toEqual([1, 3])
  })

  test('that is longer than this site’s settings for a body allows is reported for that file', async ({ sites }) => {
    await resignManifest(sites, (manifest) => ({
      ...manifest,
      files: manifest.files.map((each) => (each.name === formatName(1, 'body') ? { ...each, bytes: 2 ** 40 } : each)),
    }))
    const { messages, faults } = await importAtBravo(sites, media)
    expect([messages, faults]).toEqual([2, [{ file: expect.any(String), why: 'it has more than 4194304 bytes' }]])
  })
})

describe('a folder', () => {
  test('that is a link to a sound one is not followed', async ({ sites }) => {
    const other = createMedium(sites, 'other')
    fs.symlinkSync(folder, join(other, folder.slice(folder.lastIndexOf('/') + 1)))
    expect(await importAtBravo(sites, other)).toMatchObject({ messages: 0, faults: [{ why: 'it is not a folder' }] })
  })

  test('under another name than its manifest says is not taken, unless it is named itself', async ({ sites }) => {
    const renamed = join(media, 'alpha-to-bravo-ffffffffffffffff')
    fs.renameSync(folder, renamed)
    expect(await importAtBravo(sites, media)).toMatchObject({
      ...{
        messages: 0,
        faults: [{ why: expect.stringMatching(/^it is not named after its manifest: rename it to alpha-to-bravo-/) }],
      },
    })
    expect(await importAtBravo(sites, renamed)).toMatchObject({ messages: 3, folders: ['.'], faults: [] })
  })

  test('ignores a name without an end, of invalid bytes, or of a draft', async ({ sites }) => {
    for (const name of ['alpha-to-bravo-', 'holiday', '.alpha-to-bravo-0000000000000001.part', '..alpha', 'a\nb']) {
      fs.mkdirSync(join(media, name))
    }
    fs.mkdirSync(Buffer.concat([Buffer.from(`${media}/alpha-to-bravo-`), Buffer.from([0xff, 0xfe])]))
    expect(await importAtBravo(sites, media)).toMatchObject({ messages: 3, faults: [] })
  })

  test('beside thousands of others is found', async ({ sites }) => {
    for (let i = 0; i < 3_000; i++) fs.writeFileSync(join(media, `photo-${i}.jpg`), '')
    expect(await importAtBravo(sites, media)).toMatchObject({ messages: 3, faults: [] })
  })
})

test('other bytes that lie in new under a name are not written over, and the import says so', async ({ sites }) => {
  const { fresh: incoming } = listChannelFolders(sites.bravo, 'alpha')
  fs.writeFileSync(join(incoming, formatName(2, 'body')), 'half a cop')
  const { messages, faults } = await importAtBravo(sites, media)
  expect([messages, faults]).toEqual([
    2,
    [{ file: expect.stringContaining(formatName(2, 'body')), why: 'in/new holds other bytes under this name' }],
  ])
  expect(fs.readFileSync(join(incoming, formatName(2, 'body')), 'utf8')).toBe('half a cop')
})

test('nothing comes in for a channel whose folders are gone, or a peer that may not be used', async ({ sites }) => {
  const { home } = listChannelFolders(sites.bravo, 'alpha')
  fs.renameSync(join(home, 'CHANNEL.json'), join(sites.dir, 'CHANNEL.json'))
  expect(await importAtBravo(sites, media)).toMatchObject({ messages: 0, faults: [{}] })
  fs.renameSync(join(sites.dir, 'CHANNEL.json'), join(home, 'CHANNEL.json'))
  sites.bravo.pinned.delete('alpha')
  expect((await importAtBravo(sites, media)).faults.map(({ why }) => why)).toEqual(['alpha is not pinned'])
  expect(listFresh(sites)).toEqual([])
})
