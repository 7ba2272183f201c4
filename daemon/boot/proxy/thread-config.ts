// What a thread of the public proxy goes by: settings, and what the files that they name hold.
import { readFileSync } from 'node:fs'
import { keyValueSettings } from '../../kernel/engine-settings.ts'
import type { Resolved, Values } from '../../kernel/settings.ts'
import { ssoSettings } from '../../kernel/sso-settings.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { valuesOf } from '../profile.ts'

export type ProxySettings = Values<typeof settings>

export type ThreadConfig = {
  readonly proxy: ProxySettings
  /** PEM of the authorities that vouch for the upstream and for the identity provider; those of the machine when absent. */
  readonly platform_ca: string | undefined
  readonly sso_ca: string | undefined
  readonly token_url: string
  /** Absent: the counters are in the main thread. */
  readonly key_value: Values<typeof keyValueSettings> | undefined
  /** Certificate chain and key of the public listener, in PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** Folder of the audit lines. */
  readonly journal: string
}

/** Of settings that may start. Throws when a file that they name cannot be read. */
export function threadConfig(
  resolved: Resolved,
  journal: string,
  tls: ThreadConfig['tls'],
): ThreadConfig & { readonly proxy: ProxySettings } {
  const proxy = valuesOf(resolved, settings)
  const sso = valuesOf(resolved, ssoSettings)
  const key_value = valuesOf(resolved, keyValueSettings)
  return {
    proxy,
    platform_ca: text(proxy.platform_api_ca_file),
    sso_ca: text(sso.ca_file),
    token_url: sso.token_url ?? '',
    key_value: key_value.host === undefined ? undefined : key_value,
    tls,
    journal,
  }
}

function text(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, 'utf8')
}
