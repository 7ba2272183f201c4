// Reloads the proxy's settings and certificate: checks everything first, then applies it in every thread.

import { reportCertificateEnd } from '../../../boot/listener-certificates.ts'
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { createServiceCall } from '../../../kernel/operation/perform-operation.ts'
import type { RoleContext } from '../../../kernel/operation/role-context.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import { newTrace } from '../../../kernel/telemetry/trace.ts'
import { reload as reloadOperation } from '../../../roles/proxy/allowlist/reload.ts'
import { compileProxyConfig } from '../../../roles/proxy/config.ts'
import type { ProxyReloadResult } from '../../../roles/proxy/parts.ts'
import { settings } from '../../../roles/proxy/settings.ts'
import type { PublicListenerOptions, PublicListenerState } from '../public-listener-state.ts'
import { warnOfSpans } from '../warn-of-spans.ts'
import { reloadSettings } from './reload-settings.ts'
import { reloadTls } from './reload-tls.ts'

const reload_timeout_ms = 30_000

/** Refuses, and changes nothing, when the profile or the certificate has a fault. */
export async function reloadProxy(
  options: PublicListenerOptions,
  state: PublicListenerState,
): Promise<ProxyReloadResult | Refusal> {
  const { log, metrics } = options
  const check = await checkReload(options, state)
  if (isRefusal(check)) {
    log.error('proxy.reload.refused', { errors: check.errors })
    return check
  }
  const { resolved, needs_restart, tls } = check
  const files = tls === state.tls ? [] : ['proxy.tls_cert_file', 'proxy.tls_key_file']
  const applied = [...new Set([...check.applied, ...files])].sort()
  const proxy = getSettings(resolved, settings)
  if (applied.length > 0) await state.supervisor?.reconfigure((config) => ({ ...config, proxy, tls }))
  if (applied.includes('proxy.trace_ratio')) warnOfSpans(options, resolved)
  state.resolved = resolved
  state.tls = tls
  if (tls) reportCertificateEnd(metrics, 'proxy:tcp', tls.cert)
  const result = { applied, needs_restart, rules: compileProxyConfig(proxy).rules.length }
  log.info('proxy.reload.done', result)
  return result
}

/** Runs the operation of `platform proxy reload`, so that a reload by signal has an audit entry too. */
export async function reloadOnSignal(context: RoleContext, log: Log): Promise<void> {
  const signal = AbortSignal.timeout(reload_timeout_ms)
  const trace = newTrace(context.environment.random)
  const call = createServiceCall(context, 'proxy', 'proxy.allowlist.reload', trace, signal)
  await reloadOperation.run(call, {}).catch((error: unknown) => {
    log.error('proxy.reload.failed', { error: (error as Error).message })
  })
}

async function checkReload(
  { resolveSettingsAgain, clock }: PublicListenerOptions,
  { resolved, tls: running }: PublicListenerState,
) {
  const reloaded = await reloadSettings(resolved, resolveSettingsAgain)
  if (isRefusal(reloaded)) return reloaded
  const tls = reloadTls(running, reloaded.resolved, clock.now())
  return isRefusal(tls) ? tls : { ...reloaded, tls }
}
