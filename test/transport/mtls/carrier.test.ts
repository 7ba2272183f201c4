// What two sites do for each other over mTLS: parcels land whole, certificates change while they run, and a full site is left alone.
import * as fs from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { MtlsOptions } from '../../../adapters/transport/mtls/carrier.ts'
import { Busy, type Landing } from '../../../daemon/kernel/carrier.ts'
import { refuse } from '../../../daemon/kernel/errors.ts'
import { aCertificate, anAuthority } from '../../support/certificates.ts'
import { aParcel, patient, type TlsWorld, taker, tlsWorld } from './tls-world.ts'

const worlds: TlsWorld[] = []
afterEach(async () => {
  for (const each of worlds.splice(0)) await each.end()
})

async function aWorld(more: Partial<MtlsOptions> = {}) {
  const world = await tlsWorld(more)
  worlds.push(world)
  return world
}

describe('parcels', () => {
  test('land with their very bytes, under the name that the certificate gives, many and large ones too', async () => {
    const { alpha, bravo } = await aWorld()
    const { taken, land } = taker()
    await bravo.carrier.start(land)
    const odd = { ...aParcel(1), envelope: Buffer.from([0, 255, 13, 10]), body: Buffer.alloc(0) }
    const sent = [odd, aParcel(2, 'x'.repeat(3_000_000)), ...Array.from({ length: 130 }, (_, at) => aParcel(at + 3))]
    expect(new Set(await alpha.carrier.carry('bravo', sent, patient()))).toEqual(new Set(['landed']))
    expect(taken.map(({ peer }) => peer)).toEqual(sent.map(() => 'alpha'))
    const same = taken.every(({ parcel }, at) => {
      const { epoch, seq, envelope, body } = sent[at] ?? odd
      return (
        parcel.epoch === epoch && parcel.seq === seq && isSame(parcel.envelope, envelope) && isSame(parcel.body, body)
      )
    })
    expect(same).toBe(true)
  })

  test('that are larger than the peer takes are told so, and what stands beside them lands', async () => {
    const { alpha, bravo } = await aWorld({ parcel_limits: { max_envelope_bytes: 1_024, max_body_bytes: 2_000_000 } })
    const { taken, land } = taker()
    // As file-drop judges it; the third is not even read.
    await bravo.carrier.start(async (peer, parcels) => {
      const [parcel] = parcels
      return parcel && parcel.body.length > 2_000_000 ? ['too_large'] : await land(peer, parcels)
    })
    const sent = [aParcel(1), aParcel(2, 'x'.repeat(2_000_001)), aParcel(3, 'x'.repeat(9_000_000)), aParcel(4)]
    expect(await alpha.carrier.carry('bravo', sent, patient())).toEqual(['landed', 'too_large', 'too_large', 'landed'])
    expect(taken.map(({ parcel }) => parcel.seq)).toEqual([1, 4])
  })

  test('none at all ask whether the peer is there', async () => {
    const { alpha, bravo } = await aWorld()
    await expect(alpha.carrier.carry('bravo', [], patient())).rejects.toThrow('bravo cannot be reached')
    await bravo.carrier.start(taker().land)
    expect(await alpha.carrier.carry('bravo', [], patient())).toEqual([])
  })
})

describe('back-pressure', () => {
  test('a site that takes nothing says for how long, and what it took before it was full counts', async () => {
    const { alpha, bravo } = await aWorld()
    let answers: Landing[] = []
    await bravo.carrier.start(async (_peer, parcels) => parcels.map((_, at) => answers[at] ?? 'full'))
    const sent = [aParcel(1), aParcel(2), aParcel(3)]
    const busy = await alpha.carrier.carry('bravo', sent, patient()).catch((error: unknown) => error)
    expect(busy instanceof Busy && busy.wait_ms).toBe(5_000)
    answers = ['landed', 'in_the_way']
    expect(await alpha.carrier.carry('bravo', sent, patient())).toEqual(['landed', 'in_the_way', 'full'])
  })

  test('a channel that stands is busy; a peer that is not enrolled hears nothing but no', async () => {
    const { alpha, bravo } = await aWorld()
    let code: 'unavailable' | 'not_found' = 'unavailable'
    await bravo.carrier.start(async () => {
      throw refuse(code, 'the channel from alpha is frozen: two messages under one number')
    })
    const ask = () => alpha.carrier.carry('bravo', [aParcel(1)], patient()).catch((error: unknown) => error)
    expect(await ask()).toMatchObject({ name: 'Busy', wait_ms: 30_000 })
    code = 'not_found'
    expect(await ask()).toMatchObject({ message: 'bravo answered 403' })
  })

  test('what cannot be written is not acknowledged, and nobody is told why', async () => {
    const { alpha, bravo } = await aWorld()
    await bravo.carrier.start(async () => {
      throw new Error('ENOSPC: the disk is full')
    })
    const said = await alpha.carrier.carry('bravo', [aParcel(1)], patient()).catch((error: unknown) => error)
    expect(said).toMatchObject({ name: 'Busy', message: 'bravo takes nothing now' })
    expect(bravo.events).toContain('mtls.landing.failed')
  })
})

describe('certificates that change while both run', () => {
  test('a renewed one is shown by the next connection, and what is under way is not disturbed', async () => {
    const { dir, alpha, bravo } = await aWorld()
    let goOn = () => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    await bravo.carrier.start(async (_peer, parcels) => {
      if (parcels[0]?.seq === 1) await held
      return parcels.map(() => 'landed' as const)
    })
    const underWay = alpha.carrier.carry('bravo', [aParcel(1)], patient())
    const before = alpha.gauges.get('alpha')
    const not_after = Math.floor(Date.now() / 1_000) * 1_000 + 7_200_000
    await aCertificate(dir, bravo.authority, 'bravo', { not_after })
    await vi.waitFor(() => expect(bravo.gauges.get('bravo')).toBe(not_after / 1_000), 60_000)
    await aCertificate(dir, alpha.authority, 'alpha', { not_after })
    await vi.waitFor(() => expect(alpha.gauges.get('alpha')).not.toBe(before), 60_000)
    goOn()
    expect(await underWay).toEqual(['landed'])
    expect(await alpha.carrier.carry('bravo', [aParcel(2)], patient())).toEqual(['landed'])
  })

  test('unsound files leave those from before in force, loudly, until sound ones lie there', async () => {
    const { alpha, bravo } = await aWorld()
    await bravo.carrier.start(taker().land)
    const sound = fs.readFileSync(bravo.cert_file)
    const broken = { 'holds no certificate': 'nothing', 'holds no private key': withoutKey(sound.toString()) }
    for (const [fault, text] of Object.entries(broken)) {
      fs.writeFileSync(bravo.cert_file, text)
      await vi.waitFor(async () => expect((await bravo.carrier.health()).detail).toContain(fault), 60_000)
      expect(await alpha.carrier.carry('bravo', [aParcel(1)], patient())).toEqual(['landed'])
    }
    expect(bravo.events.filter((event) => event === 'mtls.files.unsound')).toHaveLength(2)
    fs.writeFileSync(bravo.cert_file, sound)
    await vi.waitFor(async () => expect(await bravo.carrier.health()).toEqual({ ok: true, detail: '' }), 60_000)
  })

  test('a peer whose authority is exchanged is turned away, whatever connection it had', async () => {
    const { dir, alpha, bravo } = await aWorld()
    await bravo.carrier.start(taker().land)
    expect(await alpha.carrier.carry('bravo', [aParcel(1)], patient())).toEqual(['landed'])
    fs.writeFileSync(alpha.authority.file, (await anAuthority(dir, 'another')).certificate)
    await vi.waitFor(async () => {
      await expect(alpha.carrier.carry('bravo', [aParcel(2)], patient())).rejects.toThrow('cannot be reached')
    }, 60_000)
    expect(bravo.counted.handshake).toBeGreaterThan(0)
  })

  test('a connection does not outlive the certificate that it was made with', async () => {
    let later_ms = 0
    const { alpha, bravo } = await aWorld({ now: () => Date.now() + later_ms })
    await bravo.carrier.start(taker().land)
    expect(await alpha.carrier.carry('bravo', [aParcel(1)], patient())).toEqual(['landed'])
    later_ms = 2 * 86_400_000
    await expect(alpha.carrier.carry('bravo', [aParcel(2)], patient())).rejects.toThrow('not_valid_now')
    expect(bravo.counted).toEqual({ not_valid_now: 1 })
    expect(await bravo.carrier.health()).toEqual({ ok: false, detail: 'the certificate of this site has ended' })
  })

  test.each([
    ['another site’s certificate', 'does not name the site'],
    ['a key that others may read', 'chmod 600'],
  ])('%s is not put in force', async (what, says) => {
    const { dir, bravo } = await aWorld()
    if (what.includes('another'))
      fs.writeFileSync(bravo.cert_file, (await aCertificate(dir, bravo.authority, 'charlie')).pem)
    else fs.chmodSync(bravo.cert_file, 0o644)
    await vi.waitFor(async () => expect((await bravo.carrier.health()).detail).toContain(says), 60_000)
  })
})

function withoutKey(pem: string): string {
  return pem.slice(0, pem.indexOf('-----BEGIN PRIVATE KEY'))
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a).equals(b)
}
