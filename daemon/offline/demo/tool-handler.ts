// Answers requests to a tool service of a demo: its service-info, and its tools over MCP, for tokens of a site for it alone.
import { product } from '../../../adapters/platform/product/product.ts'
import { mcpToolService, type ServedTool } from '../../../adapters/serve/mcp/tool-service.ts'
import { ssoTokenVerifier } from '../../boot/identity/sso-provider.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'

export type { ServedTool as DemoTool } from '../../../adapters/serve/mcp/tool-service.ts'

const mcp_path = '/mcp'
const clock_skew_s = 5

/** `site`: name of the site whose issuer signs the tokens, `site_url` and `ca_file`: where its keys are. */
export type DemoToolIssuer = { readonly site: string; readonly site_url: string; readonly ca_file: string }

export type DemoToolHandler = {
  answer(request: Request): Promise<Response>
  /** Reports to those that listen that the tools have changed. */
  reportChange(): void
}

/** `name`: of the service, and the audience of its tokens. `listTools`: read at each request. */
export function createDemoToolHandler(
  name: string,
  issuer: DemoToolIssuer,
  listTools: () => readonly ServedTool[],
): DemoToolHandler {
  const about = { name, version: product.version }
  const mcp = mcpToolService(about, listTools)
  const verify = tokenVerifier(name, issuer)
  return {
    async answer(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/service-info') return Response.json({ ...about, mcp_path })
      if (pathname !== mcp_path) return new Response(null, { status: 404 })
      const subject = await verify(request.headers.get('authorization') ?? '')
      if (subject === undefined) return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
      return await mcp.answer(request, subject)
    },
    reportChange: () => mcp.reportChange(),
  }
}

/** The subject of a token that the site has issued for this service; undefined for any other. */
function tokenVerifier(audience: string, { site, site_url, ca_file }: DemoToolIssuer) {
  const ignore = () => undefined
  const issuer = `urn:platform:site:${site}`
  const wellknown = `${site_url}/.well-known/openid-configuration`
  const absent = { token_url: undefined, client_id: undefined, client_secret: undefined }
  const verifier = ssoTokenVerifier({
    sso: { ...absent, ...ssoSettings.schema.parse({ audience }), issuer, wellknown, ca_file },
    skew_s: clock_skew_s,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    now: Date.now,
    monotonic: () => performance.now(),
  })
  return async (authorization: string): Promise<string | undefined> => {
    const [scheme, token = ''] = authorization.split(' ')
    if (scheme !== 'Bearer' || token === '') return undefined
    const verdict = await verifier.verify(token)
    return 'refused' in verdict ? undefined : String(verdict.payload.sub)
  }
}
