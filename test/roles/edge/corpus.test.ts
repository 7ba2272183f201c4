// The requests of the corpus, which are hostile to the public proxy, at the edge before it: what may arrive, and as what.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { normaliseTarget } from '../../../daemon/kernel/forward/normal-target.ts'
import { type CorpusRow, readCorpusRows } from '../../support/proxy/corpus-row.ts'
import {
  type ForwardedRequest,
  listFieldValues,
  type RecordingUpstream,
  respondOk,
  startRecordingUpstream,
} from '../../support/proxy/recording-upstream.ts'
import { parseFinalStatus, sendCorpusBytes } from '../../support/proxy/run-corpus-row.ts'
import { pollOptions } from '../../support/proxy/upstream-fixture.ts'
import { type EdgeSite, startEdgeSite } from './edge-site.ts'

let proxy: RecordingUpstream
let edge: EdgeSite
beforeAll(async () => {
  proxy = await startRecordingUpstream(respondOk)
  edge = await startEdgeSite({ backends: { 'public-proxy': [`http://127.0.0.1:${proxy.port}`] } })
})
afterAll(async () => {
  await edge?.site.end()
  await proxy?.close()
})

const listed = '/public-api/api/v1/report'
const marker = 'access-control-request-headers'

/** The requests that reached the proxy, and the status of the first answer. */
async function sendRow(row: CorpusRow): Promise<{ reached: ForwardedRequest[]; status: number | undefined }> {
  proxy.requests.length = 0
  const closing: Promise<unknown>[] = []
  const isMarker = (request: ForwardedRequest) => listFieldValues(request, marker).includes(row.id)
  proxy.respond = (request, socket) => {
    if (isMarker(request)) socket.write(`HTTP/1.1 204 No Content\r\naccess-control-allow-headers: ${row.id}\r\n\r\n`)
    else if (row.upstream_b64 === undefined) respondOk(request, socket)
    else {
      closing.push(new Promise((resolve) => socket.once('close', resolve)))
      socket.end(Buffer.from(row.upstream_b64, 'base64'))
    }
  }
  const { text } = await sendCorpusBytes({ port: edge.port, listed }, Buffer.from(row.raw_b64, 'base64'), row.id)
  await vi.waitFor(() => Promise.all(closing), pollOptions)
  return { reached: proxy.requests.filter((request) => !isMarker(request)), status: parseFinalStatus(text) }
}

function judgeRequest(request: ForwardedRequest): string[] {
  const values = (name: string) => listFieldValues(request, name)
  const normal = normaliseTarget(request.target, 0)
  const isNormal = !('denied' in normal) && normal.path + normal.query === request.target
  return [
    ...request.oddities,
    ...(isNormal && /^\/public-api([/?]|$)/.test(request.target) ? [] : [`target ${request.target}`]),
    ...(values('x-forwarded-for').join() === '127.0.0.1' ? [] : [`source ${values('x-forwarded-for')}`]),
    ...values('upgrade').filter((protocol) => protocol !== 'websocket'),
    ...(values('x-forwarded-proto').join() === 'http' ? [] : ['scheme']),
    ...['forwarded', 'x-real-ip', 'client-cert', 'x-original-url', 'x-rewrite-url', 'te', 'trailer']
      .filter((name) => values(name).length > 0)
      .map((name) => `field ${name}`),
  ]
}

test('each row arrives once at most, in one reading, or not at all', async () => {
  const wrong: string[] = []
  const counts = { forwarded: 0, refused: 0 }
  for (const row of readCorpusRows().filter(({ slow }) => !slow)) {
    const { reached, status } = await sendRow(row)
    const note = (what: string) => wrong.push(`${row.id} (${row.note}): ${what}`)
    for (const each of reached.flatMap(judgeRequest)) note(each)
    if (reached.length > Math.max(1, row.expect.upstream_max)) note(`${reached.length} requests`)
    if (row.expect.forward === true && reached.length === 0) note(`not forwarded: ${status}`)
    if (reached.length === 0 && status !== undefined && status < 400) note(`${status} from nowhere`)
    counts[reached.length > 0 ? 'forwarded' : 'refused'] += 1
  }
  expect(wrong).toEqual([])
  expect(counts.forwarded).toBeGreaterThan(80)
  expect(counts.refused).toBeGreaterThan(40)
  // Bodies are passed on as they arrive, at the end of a turn: of one that breaks off in its first packet nothing arrives.
  expect(proxy.listLeftovers()).toEqual([])
})
