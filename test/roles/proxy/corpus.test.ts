// Every request of the corpus through the pure steps: what a head alone decides is decided as the corpus says.
import { expect, test } from 'vitest'
import { compileProxyConfig } from '../../../daemon/roles/proxy/config.ts'
import type { RequestDecision, RequestHead } from '../../../daemon/roles/proxy/request/request-decision.ts'
import { decideRequest } from '../../../daemon/roles/proxy/serving/decide-request.ts'
import { settings } from '../../../daemon/roles/proxy/settings.ts'
import { type CorpusRow, corpusAllowlist, readCorpusRows } from '../../support/proxy/corpus-row.ts'

const config = compileProxyConfig(settings.schema.parse({ allowlist: corpusAllowlist, trusted_proxy_depth: 1 }))

/** Rows that the parser of the listener settles: invalid HTTP/1.1, or never complete. */
const parserRows = /^(body-004|hdr-001|hdr-002|host-001|slow-\d+|smug-(040|041|049|050))$/

/** Denied by the corpus; by decisions.md `//` and escapes of unreserved characters are normalised, which docs/proxy.md explains. */
const normalisedPaths: Readonly<Record<string, string>> = {
  'path-002': '/api/v1/report/42',
  'path-068': '/api/v1/report',
}

/** The head as a strict parser hands it on; undefined where such a parser refuses it. */
function parseHead(row: CorpusRow): RequestHead | undefined {
  const [head = ''] = Buffer.from(row.raw_b64, 'base64').toString('latin1').split('\r\n\r\n', 1)
  const [line = '', ...fields] = head.split('\r\n')
  const [, method, target] = /^([!-~]+) (.+) HTTP\/1\.[01]$/s.exec(line) ?? []
  if (!method || !target || parserRows.test(row.id)) return undefined
  if (fields.some((field) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:/.test(field))) return undefined
  const headers = fields.flatMap((field) => {
    const colon = field.indexOf(':')
    return [field.slice(0, colon), field.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')]
  })
  return { method, target, headers, peer: '127.0.0.1' }
}

const isForwarded = ({ next }: RequestDecision) => next === 'read' || next === 'write'

test('the corpus has its 206 rows, and a head decides most of them', () => {
  const rows = readCorpusRows()
  expect(rows).toHaveLength(206)
  expect(rows.filter(parseHead).length).toBeGreaterThan(170)
})

test('denies the rows that must not be forwarded, and forwards the others', () => {
  const wrong = readCorpusRows().flatMap((row) => {
    const head = parseHead(row)
    if (!head || row.expect.forward === 'optional' || row.id in normalisedPaths) return []
    const decision = decideRequest(head, config)
    return isForwarded(decision) === row.expect.forward ? [] : [`${row.id} ${row.note}: ${decision.reason}`]
  })
  expect(wrong).toEqual([])
})

test('forwards the method and the path that the corpus names, byte for byte', () => {
  const wrong = readCorpusRows().flatMap((row) => {
    const head = parseHead(row)
    if (!head) return []
    const decision = decideRequest(head, config)
    if (!isForwarded(decision)) return []
    const [wanted] = row.expect.upstream ?? []
    const expected = normalisedPaths[row.id] ?? wanted?.path ?? 'nothing'
    const sent = decision.path + decision.query
    return sent === expected && (!wanted || wanted.method === head.method) ? [] : [`${row.id}: ${sent}`]
  })
  expect(wrong).toEqual([])
})

test('no header reaches the upstream that the corpus wants gone', () => {
  const wrong = readCorpusRows().flatMap((row) => {
    const head = parseHead(row)
    if (!head) return []
    const names = decideRequest(head, config).headers.filter((_, at) => at % 2 === 0)
    return [...(row.expect.absent ?? []), ...(row.expect.absent_should ?? [])]
      .filter((name) => names.includes(name))
      .map((name) => `${row.id}: ${name}`)
  })
  expect(wrong).toEqual([])
})

test('the source is the one that the corpus names', () => {
  const wrong = readCorpusRows().flatMap((row) => {
    const head = parseHead(row)
    const expected = row.expect.source
    if (!head || expected === undefined) return []
    const { source } = decideRequest(head, config)
    const found = source.from === 'peer' ? 'peer' : source.address
    return found === expected ? [] : [`${row.id}: ${found}`]
  })
  expect(wrong).toEqual([])
})
