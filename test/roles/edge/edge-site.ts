// A site that runs the edge alone, before services of a test.
import { startTestSite, type TestSite, type TestSiteOptions } from '../../support/site/test-site.ts'

export type EdgeSite = {
  readonly site: TestSite
  /** Of the first listener. */
  readonly port: number
  /** Of the plain listener. */
  readonly plain_port: number
}

export type EdgeSiteOptions = Pick<TestSiteOptions, 'name' | 'onEvent'> & {
  /** URLs of processes by the names of their services. */
  readonly backends?: Readonly<Record<string, readonly string[]>>
  /** Settings of the edge besides its ports. */
  readonly edge?: Readonly<Record<string, unknown>>
  readonly ingress?: Readonly<Record<string, unknown>>
}

export async function startEdgeSite(options: EdgeSiteOptions = {}): Promise<EdgeSite> {
  const { backends = {}, edge = {}, ingress = {}, ...more } = options
  const site = await startTestSite({
    name: 'front',
    ...more,
    profile: {
      platform: { roles: ['site', 'edge'] },
      edge: { port: 0, http_port: 0, ...edge },
      ingress: { backends, ...ingress },
    },
  })
  const token = await site.token({ roles: ['auditor'] })
  const { json } = await site.call('edge', 'GET', '/health', undefined, { token })
  const [port = 0, plain_port = 0] = (json as { listens: string[] }).listens.map((url) => Number(new URL(url).port))
  return { site, port, plain_port }
}
