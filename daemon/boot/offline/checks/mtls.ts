// Whether the peers that are served over mTLS can be: certificates that are sound and last, and sites that answer.
import { Client } from '../../../../adapters/transport/mtls/client.ts'
import { type Material, readMaterial } from '../../../../adapters/transport/mtls/material.ts'
import { tlsFiles } from '../../mtls.ts'
import type { Examined } from '../examination.ts'
import { ending, type Finding, fine, problem, warning } from '../finding.ts'
import { list } from '../site-peers.ts'
import { siteSettings } from '../site-profile.ts'

const patience_ms = 3_000
const renewal = 'platform keys cert renew; where the authority lies elsewhere: platform keys cert request'

export async function mtlsFindings({ folder, env, now }: Examined): Promise<Finding[]> {
  const files = tlsFiles(folder, siteSettings(folder, env).resolved)
  const names = Object.keys(files.peers)
  if (names.length === 0) return []
  let material: Material
  try {
    material = readMaterial(files)
  } catch (error) {
    return [problem('mtls', error instanceof Error ? error.message : String(error), 'put sound files there')]
  }
  const enrolled = (await list(folder)).map(({ name }) => name)
  const strange = names.filter((name) => !enrolled.includes(name))
  const urls = Object.fromEntries(Object.entries(files.peers).map(([name, { url }]) => [name, url]))
  const client = new Client({ urls, material: () => material, now: () => now })
  const reached = await Promise.all(names.map((name) => reach(client, name)))
  client.close()
  return [
    ...strange.map((name) => problem('mtls', `${name} is no pinned peer`, `platform peers add ${name}`)),
    ...lasting(material, now),
    ...reached,
  ]
}

function lasting({ own, pins }: Material, now: number): Finding[] {
  const ends = [...pins].map(([name, { authorities }]) =>
    ending(
      'mtls',
      `the authority of ${name}`,
      Math.max(...authorities.map(({ validToDate }) => validToDate.getTime())),
      now,
      `get the new one of ${name} (platform keys ca show --out there), and put it beside the old into its ca_file`,
    ),
  )
  const end = own.validToDate.getTime()
  const found = [ending('mtls', 'the certificate of this site', end, now, renewal), ...ends]
  const bad = found.filter((each) => each !== undefined)
  if (bad.length > 0) return bad
  return [fine('mtls', `the certificate of this site lasts until ${own.validToDate.toISOString().slice(0, 10)}`)]
}

/** By an empty batch: all but the taking is tried. */
async function reach(client: Client, peer: string): Promise<Finding> {
  try {
    await client.carry(peer, [], AbortSignal.timeout(patience_ms))
    return fine('mtls', `${peer} answers`)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return warning('mtls', detail, `see that ${peer} runs, its url is right, and it pins the authority of this site`)
  }
}
