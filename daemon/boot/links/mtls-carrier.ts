// Opens the mTLS carrier with the site's certificate and the pins of its peers, as the profile names them.
import { dirname, resolve } from 'node:path'
import { type MtlsCarrier, mtlsCarrier } from '../../../adapters/transport/mtls/carrier.ts'
import { readMaterial, type TlsFiles } from '../../../adapters/transport/mtls/material.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings, platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { mtlsSettings } from '../../roles/site/carrier-settings.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { deriveCertificatePassphrase } from '../host/certificate-passphrase.ts'
import { passphraseReader } from '../host/passphrase.ts'
import { type SiteFolder, siteCertificateFile } from '../storage/site-folder.ts'
import type { NetworkCarrierOptions } from './network-carriers.ts'

/** Throws an Error with its remedy for certificates, keys and pins that cannot be used. */
export function openMtlsCarrier({ folder, resolved, site, clock, ...options }: NetworkCarrierOptions): MtlsCarrier {
  const { listen, port } = getSettings(resolved, mtlsSettings)
  const { max_envelope_bytes, max_body_bytes } = getSettings(resolved, filedropSettings)
  const parcel_limits = { max_envelope_bytes, max_body_bytes }
  const files = resolveTlsFiles(folder, resolved)
  const { tenant_id } = site
  return mtlsCarrier({ ...options, ...files, tenant_id, listen, port, parcel_limits, now: clock.now })
}

/** Paths of certificate, key and pins, resolved against the folder of the profile; peers with their other settings. */
export function resolveTlsFiles(folder: SiteFolder, resolved: ResolvedSettings) {
  const { name: site } = getSettings(resolved, platformSettings)
  const { cert_file, key_file, peers } = getSettings(resolved, mtlsSettings)
  const resolveFile = (file: string | undefined) =>
    file === undefined ? siteCertificateFile(folder) : resolve(dirname(folder.profile), file)
  const pins = Object.entries(peers).map(
    ([name, pin]) => [name, { ...pin, ca_file: resolveFile(pin.ca_file) }] as const,
  )
  return {
    site,
    cert_file: resolveFile(cert_file),
    key_file: resolveFile(key_file ?? cert_file),
    passphrase:
      key_file === undefined && cert_file === undefined ? certificatePassphraseReader(resolved, site) : () => undefined,
    peers: Object.fromEntries(pins),
  } satisfies TlsFiles
}

/** Passphrase of a key of `platform keys cert`; other key files are not encrypted. */
function certificatePassphraseReader(resolved: ResolvedSettings, site: string): () => string | undefined {
  const readKeysPassphrase = passphraseReader(getSettings(resolved, identitySettings).keys_passphrase_file)
  let cached: string | undefined
  return () => {
    const passphrase = cached === undefined ? readKeysPassphrase() : undefined
    cached ??= passphrase === undefined ? undefined : deriveCertificatePassphrase(passphrase, site)
    return cached
  }
}

/** Problems of the certificate files, without which the listener would admit no peer, or the wrong ones. */
export function findMtlsProblems(folder: SiteFolder, resolved: ResolvedSettings): ProfileProblem[] {
  try {
    readMaterial(resolveTlsFiles(folder, resolved))
    return []
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const remedy = '`platform keys ca init` and `platform keys cert issue` make the certificate of a site'
    return [{ path: 'mtls', message: `${reason} (${remedy})` }]
  }
}
