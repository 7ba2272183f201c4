// Checks the mTLS peers: valid certificates that do not expire soon, and reachable sites.
import { MtlsClient } from '../../../../adapters/transport/mtls/client.ts'
import { type MtlsMaterial, readMaterial } from '../../../../adapters/transport/mtls/material.ts'
import { resolveTlsFiles } from '../../../boot/links/mtls-carrier.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem, reportWarning } from '../finding.ts'

const timeout_ms = 3_000
const renewal_remedy = 'platform keys cert renew; if the authority is elsewhere: platform keys cert request --out FILE'

export async function checkMtls({ folder, env, now }: DoctorContext): Promise<DoctorFinding[]> {
  const files = resolveTlsFiles(folder, readSiteSettings(folder, env).resolved)
  const names = Object.keys(files.peers)
  if (names.length === 0) return []
  let material: MtlsMaterial
  try {
    material = readMaterial(files)
  } catch (error) {
    return [
      reportProblem(
        'mtls.file_unusable',
        error instanceof Error ? error.message : String(error),
        'replace it with a valid file',
      ),
    ]
  }
  const enrolled = (await listPeers(folder)).map(({ name }) => name)
  const unpinned = names.filter((name) => !enrolled.includes(name))
  const urls = Object.fromEntries(Object.entries(files.peers).map(([name, { url }]) => [name, url]))
  const client = new MtlsClient({ urls, material: () => material, now: () => now })
  const reachability = await Promise.all(names.map((name) => checkPeerReachable(client, name)))
  client.close()
  return [
    ...unpinned.map((name) =>
      reportProblem(
        'mtls.peer_not_pinned',
        `${name} is not a pinned peer`,
        `platform peers add ${name} --keys FILE --tenant TENANT --ceiling LEVEL`,
      ),
    ),
    ...checkCertificateExpiry(material, now),
    ...reachability,
  ]
}

function checkCertificateExpiry({ own_certificate, pins }: MtlsMaterial, now: number): DoctorFinding[] {
  const authorityExpiries = [...pins].map(([name, { authorities }]) =>
    reportExpiry(
      'mtls.authority_expiring',
      `the authority of ${name}`,
      Math.max(...authorities.map(({ validToDate }) => validToDate.getTime())),
      now,
      `get its new certificate (platform keys ca show --out at ${name}), and add it to its ca_file`,
    ),
  )
  const end = own_certificate.validToDate.getTime()
  const expiries = [
    reportExpiry('mtls.certificate_expiring', 'the certificate of this site', end, now, renewal_remedy),
    ...authorityExpiries,
  ]
  const findings = expiries.filter((expiry) => expiry !== undefined)
  if (findings.length > 0) return findings
  return [
    reportOk(
      'mtls',
      `the certificate of this site lasts until ${own_certificate.validToDate.toISOString().slice(0, 10)}`,
    ),
  ]
}

/** Sends an empty batch, which exercises everything except the delivery. */
async function checkPeerReachable(client: MtlsClient, peer: string): Promise<DoctorFinding> {
  try {
    await client.carry(peer, [], AbortSignal.timeout(timeout_ms))
    return reportOk('mtls', `${peer} answers`)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return reportWarning(
      'mtls.peer_unreachable',
      detail,
      `check that ${peer} runs, that its url is right, and that it pins the authority of this site`,
    )
  }
}
