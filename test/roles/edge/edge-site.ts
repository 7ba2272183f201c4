// A site that runs the edge alone, before services of a test.
import { roleSocketFile } from '../../../daemon/boot/storage/site-folder.ts'
import { sendHttpRequest } from '../../support/http/send-http-request.ts'
import {
  type ProfileSections,
  startTestSite,
  type TestSite,
  type TestSiteOptions,
} from '../../support/site/test-site.ts'

export type EdgeSite = {
  readonly site: TestSite
  /** Of the first listener. */
  readonly port: number
  /** Of the plain listener. */
  readonly plain_port: number
}

export type EdgeSiteOptions = Pick<TestSiteOptions, 'name' | 'onEvent' | 'clock'> & {
  /** URLs of processes by the names of their services. */
  readonly backends?: Readonly<Record<string, readonly string[]>>
  /** Settings of the edge besides its ports. */
  readonly edge?: Readonly<Record<string, unknown>>
  /** Further sections of its profile. */
  readonly site?: ProfileSections
}

export async function startEdgeSite(options: EdgeSiteOptions = {}): Promise<EdgeSite> {
  const { backends = {}, edge = {}, site: sections = {}, ...more } = options
  const site = await startTestSite({
    name: 'front',
    ...more,
    profile: {
      platform: { roles: ['site', 'edge'] },
      edge: { port: 0, http_port: 0, probe_interval_s: 3_600, ...edge },
      ingress: { backends },
      ...sections,
    },
  })
  const token = await site.token({ roles: ['auditor'] })
  // The local socket: the listener may have a certificate that this process does not trust.
  const socket = `unix:${roleSocketFile(site.folder, 'edge')}`
  const { json } = await sendHttpRequest(socket, 'GET', '/health', undefined, { token })
  const [port = 0, plain_port = 0] = (json as { listens: string[] }).listens.map((url) => Number(new URL(url).port))
  return { site, port, plain_port }
}
