// Two sites over mTLS: parcels land whole, certificates change while they run, and a full site is left alone.
import * as fs from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { MtlsOptions } from '../../../adapters/transport/mtls/carrier.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { type CarryOutcome, PeerBusyError } from '../../../daemon/kernel/messaging/carrier.ts'
import { createAuthority, issueCertificate } from '../../support/keys/site-certificates.ts'
import { buildParcel, createMtlsPair, createReceiver, createTimeoutSignal, type MtlsPair } from './mtls-pair.ts'

const worlds: MtlsPair[] = []
afterEach(async () => {
  for (const each of worlds.splice(0)) await each.end()
})

async function createPair(more: Partial<MtlsOptions> = {}) {
  const world = await createMtlsPair(more)
  worlds.push(world)
  return world
}

describe('parcels', () => {
  test('land with their very bytes, under the name that the certificate gives, many and large ones too', async () => {
    const { alpha, bravo } = await createPair()
    const { taken, land } = createReceiver()
    await bravo.carrier.start(land)
    const odd = { ...buildParcel(1), envelope: Buffer.from([0, 255, 13, 10]), body: Buffer.alloc(0) }
    const sent = [
      odd,
      buildParcel(2, 'x'.repeat(3_000_000)),
      ...Array.from({ length: 130 }, (_, at) => buildParcel(at + 3)),
    ]
    expect(new Set(await alpha.carrier.carry('bravo', sent, createTimeoutSignal()))).toEqual(new Set(['landed']))
    expect(taken.map(({ peer }) => peer)).toEqual(sent.map(() => 'alpha'))
    const same = taken.every(({ parcel }, at) => {
      const { epoch, seq, envelope, body } = sent[at] ?? odd
      return (
        parcel.epoch === epoch && parcel.seq === seq && isSame(parcel.envelope, envelope) && isSame(parcel.body, body)
      )
    })
    expect(same).toBe(true)
  })

  test('reports parcels larger than the peer takes, and those beside them land', async () => {
    const { alpha, bravo } = await createPair({
      parcel_limits: { max_envelope_bytes: 1_024, max_body_bytes: 2_000_000 },
    })
    const { taken, land } = createReceiver()
    // As file-drop judges it; the third is not even read.
    await bravo.carrier.start(async (peer, parcels) => {
      const [parcel] = parcels
      return parcel && parcel.body.length > 2_000_000 ? ['too_large'] : await land(peer, parcels)
    })
    const sent = [
      buildParcel(1),
      buildParcel(2, 'x'.repeat(2_000_001)),
      buildParcel(3, 'x'.repeat(9_000_000)),
      buildParcel(4),
    ]
    expect(await alpha.carrier.carry('bravo', sent, createTimeoutSignal())).toEqual([
      'landed',
      'too_large',
      'too_large',
      'landed',
    ])
    expect(taken.map(({ parcel }) => parcel.seq)).toEqual([1, 4])
  })

  test('none at all ask whether the peer is there', async () => {
    const { alpha, bravo } = await createPair()
    await expect(alpha.carrier.carry('bravo', [], createTimeoutSignal())).rejects.toThrow('bravo cannot be reached')
    await bravo.carrier.start(createReceiver().land)
    expect(await alpha.carrier.carry('bravo', [], createTimeoutSignal())).toEqual([])
  })
})

describe('back-pressure', () => {
  test('a site that takes nothing says for how long, and what it took before it was full counts', async () => {
    const { alpha, bravo } = await createPair()
    let answers: CarryOutcome[] = []
    await bravo.carrier.start(async (_peer, parcels) => parcels.map((_, at) => answers[at] ?? 'full'))
    const sent = [buildParcel(1), buildParcel(2), buildParcel(3)]
    const busy = await alpha.carrier.carry('bravo', sent, createTimeoutSignal()).catch((error: unknown) => error)
    expect(busy instanceof PeerBusyError && busy.wait_ms).toBe(5_000)
    answers = ['landed', 'in_the_way']
    expect(await alpha.carrier.carry('bravo', sent, createTimeoutSignal())).toEqual(['landed', 'in_the_way', 'full'])
  })

  test('a channel that stands is busy; a peer that is not enrolled hears nothing but no', async () => {
    const { alpha, bravo } = await createPair()
    let code: 'unavailable' | 'not_found' = 'unavailable'
    await bravo.carrier.start(async () => {
      throw refuse(code, 'the channel from alpha is frozen: two messages under one number')
    })
    const ask = () =>
      alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal()).catch((error: unknown) => error)
    expect(await ask()).toMatchObject({ name: 'PeerBusyError', wait_ms: 30_000 })
    code = 'not_found'
    expect(await ask()).toMatchObject({ message: 'bravo answered 403' })
  })

  test('does not acknowledge a parcel that cannot be written, and reveals no cause', async () => {
    const { alpha, bravo } = await createPair()
    await bravo.carrier.start(async () => {
      throw new Error('ENOSPC: the disk is full')
    })
    const answer = await alpha.carrier
      .carry('bravo', [buildParcel(1)], createTimeoutSignal())
      .catch((error: unknown) => error)
    expect(answer).toMatchObject({ name: 'PeerBusyError', message: 'bravo accepts no messages at present' })
    expect(bravo.events).toContain('mtls.landing.failed')
  })
})

describe('certificates that change while both run', () => {
  test('the next connection shows a renewed one, and requests under way are not disturbed', async () => {
    const { dir, alpha, bravo } = await createPair()
    let goOn = () => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    await bravo.carrier.start(async (_peer, parcels) => {
      if (parcels[0]?.seq === 1) await held
      return parcels.map(() => 'landed' as const)
    })
    const underWay = alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal())
    const before = alpha.gauges.get('alpha')
    const not_after = Math.floor(Date.now() / 1_000) * 1_000 + 7_200_000
    await issueCertificate(dir, bravo.authority, 'bravo', { not_after })
    await vi.waitFor(() => expect(bravo.gauges.get('bravo')).toBe(not_after / 1_000), 60_000)
    await issueCertificate(dir, alpha.authority, 'alpha', { not_after })
    await vi.waitFor(() => expect(alpha.gauges.get('alpha')).not.toBe(before), 60_000)
    goOn()
    expect(await underWay).toEqual(['landed'])
    expect(await alpha.carrier.carry('bravo', [buildParcel(2)], createTimeoutSignal())).toEqual(['landed'])
  })

  test('unsound files leave those from before in force, loudly, until sound ones lie there', async () => {
    const { alpha, bravo } = await createPair()
    await bravo.carrier.start(createReceiver().land)
    const sound = fs.readFileSync(bravo.cert_file)
    const broken = { 'holds no certificate': 'nothing', 'holds no private key': stripKey(sound.toString()) }
    for (const [fault, text] of Object.entries(broken)) {
      fs.writeFileSync(bravo.cert_file, text)
      await vi.waitFor(async () => expect((await bravo.carrier.health()).detail).toContain(fault), 60_000)
      expect(await alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal())).toEqual(['landed'])
    }
    expect(bravo.events.filter((event) => event === 'mtls.files.invalid')).toHaveLength(2)
    fs.writeFileSync(bravo.cert_file, sound)
    await vi.waitFor(async () => expect(await bravo.carrier.health()).toEqual({ ok: true, detail: '' }), 60_000)
  })

  test('turns away a peer whose authority is replaced, on every connection it had', async () => {
    const { dir, alpha, bravo } = await createPair()
    await bravo.carrier.start(createReceiver().land)
    expect(await alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal())).toEqual(['landed'])
    fs.writeFileSync(alpha.authority.file, (await createAuthority(dir, 'another')).certificate)
    await vi.waitFor(async () => {
      await expect(alpha.carrier.carry('bravo', [buildParcel(2)], createTimeoutSignal())).rejects.toThrow(
        'cannot be reached',
      )
    }, 60_000)
    expect(bravo.counted.handshake).toBeGreaterThan(0)
  })

  test('a connection does not outlive the certificate that it was made with', async () => {
    let later_ms = 0
    const { alpha, bravo } = await createPair({ now: () => Date.now() + later_ms })
    await bravo.carrier.start(createReceiver().land)
    expect(await alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal())).toEqual(['landed'])
    later_ms = 2 * 86_400_000
    await expect(alpha.carrier.carry('bravo', [buildParcel(2)], createTimeoutSignal())).rejects.toThrow('not_valid_now')
    expect(bravo.counted).toEqual({ not_valid_now: 1 })
    expect(await bravo.carrier.health()).toEqual({ ok: false, detail: 'the certificate of this site has expired' })
  })

  test.each([
    ['another site’s certificate', 'does not name the site'],
    ['a key that others may read', 'chmod 600'],
  ])('%s is not put in force', async (what, says) => {
    const { dir, bravo } = await createPair()
    if (what.includes('another'))
      fs.writeFileSync(bravo.cert_file, (await issueCertificate(dir, bravo.authority, 'charlie')).pem)
    else fs.chmodSync(bravo.cert_file, 0o644)
    await vi.waitFor(async () => expect((await bravo.carrier.health()).detail).toContain(says), 60_000)
  })
})

function stripKey(pem: string): string {
  return pem.slice(0, pem.indexOf('-----BEGIN PRIVATE KEY'))
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a).equals(b)
}
