// Carries files between sites: takes the ready ones of one site to the other, one way, on demand.
import * as fs from 'node:fs'
import path from 'node:path'
import type { FederatedSite } from './packaged-federation.ts'

/** One message as the courier sees it: two files of one name. */
export type CourierParcel = { readonly stem: string; readonly body: Buffer; readonly env: Buffer }

export type CourierRoute = {
  readonly from: FederatedSite
  readonly to: FederatedSite
}

export const formatChannelFolder = (site: FederatedSite, peer: FederatedSite, ...names: readonly string[]) =>
  path.join(site.dir, 'filedrop', peer.name, ...names)

/** Takes all that is ready, in the order of its numbers. A message is there once its envelope is, and its body with it. */
export function pickUpParcels({ from, to }: CourierRoute): CourierParcel[] {
  const ready = formatChannelFolder(from, to, 'out', 'ready')
  const envelopes = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  const isWhole = (name: string) => fs.existsSync(path.join(ready, name.replace('.env.', '.body.')))
  return envelopes
    .filter(isWhole)
    .sort()
    .map((name) => {
      const stem = name.replace('.env.json', '')
      const take = (part: string) => {
        const file = path.join(ready, `${stem}.${part}.json`)
        const bytes = fs.readFileSync(file)
        fs.unlinkSync(file)
        return bytes
      }
      return { stem, env: take('env'), body: take('body') }
    })
}

/** Brings parcels in the order of the list: each body before its envelope, each file whole before it has its name. */
export function deliverParcels({ from, to }: CourierRoute, parcels: readonly CourierParcel[]): void {
  const fresh = formatChannelFolder(to, from, 'in', 'new')
  for (const { stem, body, env } of parcels) {
    for (const [part, bytes] of [
      ['body', body],
      ['env', env],
    ] as const) {
      const name = `${stem}.${part}.json`
      fs.writeFileSync(path.join(fresh, `.${name}.part`), bytes)
      fs.renameSync(path.join(fresh, `.${name}.part`), path.join(fresh, name))
    }
  }
}

/** The parcels of one trip. */
export function carryParcels(road: CourierRoute): CourierParcel[] {
  const parcels = pickUpParcels(road)
  deliverParcels(road, parcels)
  return parcels
}

/** The session that a parcel is about: the body is plain, so that any carrier can read it. */
export function readSessionId({ body }: CourierParcel): string {
  const { data } = JSON.parse(body.toString('utf8')) as { data: { session_id: string } }
  return data.session_id
}

export type QuarantineReason = {
  readonly reason: string
  readonly code?: string
  readonly seq?: number
  readonly detail: string
  readonly files: readonly { readonly name: string }[]
}

/** The quarantine of the receiving end, oldest first. */
export function listQuarantined({ from, to }: CourierRoute): QuarantineReason[] {
  const folder = formatChannelFolder(to, from, 'in', 'quarantine')
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.reason.json'))
  const reasons = names.map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')))
  return reasons.sort((a, b) => a.at.localeCompare(b.at))
}
