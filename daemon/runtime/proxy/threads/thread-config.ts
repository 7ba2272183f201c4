// The configuration of a serving thread: settings, and the contents of the files that they name.
import { readFileSync } from 'node:fs'
import { keyValueSettings } from '../../../kernel/settings/backing-service-settings.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings, SettingValues } from '../../../kernel/settings/settings.ts'
import { ssoSettings } from '../../../kernel/settings/sso-settings.ts'
import type { ProxySettings } from '../../../roles/proxy/config.ts'
import { settings } from '../../../roles/proxy/settings.ts'

export type ProxyThreadConfig = {
  readonly proxy: ProxySettings
  /** PEM of the authorities that vouch for the upstream and for the identity provider; those of the machine when absent. */
  readonly platform_ca: string | undefined
  readonly sso_ca: string | undefined
  readonly token_url: string
  /** Absent: the counters are in the main thread. */
  readonly key_value: SettingValues<typeof keyValueSettings> | undefined
  /** Certificate chain and key of the public listener, in PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** Folder of the audit lines. */
  readonly journal_folder: string
  /** Share of the rate of spans; undefined: no exporter takes spans. */
  readonly span_share: number | undefined
}

/** Requires settings that passed the start checks. Throws when a file that they name cannot be read. */
export function buildThreadConfig(
  resolved: ResolvedSettings,
  journal: string,
  tls: ProxyThreadConfig['tls'],
  span_share: number | undefined,
): ProxyThreadConfig {
  const proxy = getSettings(resolved, settings)
  const sso = getSettings(resolved, ssoSettings)
  const key_value = getSettings(resolved, keyValueSettings)
  return {
    proxy,
    platform_ca: readOptionalFile(proxy.platform_api_ca_file),
    sso_ca: readOptionalFile(sso.ca_file),
    token_url: sso.token_url ?? '',
    key_value: key_value.host === undefined ? undefined : key_value,
    tls,
    journal_folder: journal,
    span_share,
  }
}

function readOptionalFile(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, 'utf8')
}
