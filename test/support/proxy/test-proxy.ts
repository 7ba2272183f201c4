// A packaged proxy of one test: when the test has finished, its daemons stop and its folder is removed.
import { onTestFinished } from 'vitest'
import type { ServedSite } from '../site/packaged-site.ts'
import { createPackagedProxy, type PackagedProxy, upstreamServiceToken } from './packaged-proxy.ts'

/** Not served yet. */
export async function createTestProxy(
  rules: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<PackagedProxy> {
  const proxy = await createPackagedProxy(rules, env)
  onTestFinished(() => proxy.close())
  return proxy
}

export async function serveTestProxy(
  rules: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly proxy: PackagedProxy; readonly served: ServedSite }> {
  const proxy = await createTestProxy(rules, env)
  return { proxy, served: await proxy.serve() }
}

/** Lets every token expire at once: each request that needs one asks the provider, which counts them. */
export function expireTokensAtOnce({ provider }: PackagedProxy): void {
  provider.respond = (_, response) =>
    response.end(JSON.stringify({ access_token: upstreamServiceToken, token_type: 'Bearer', expires_in: 0 }))
}
