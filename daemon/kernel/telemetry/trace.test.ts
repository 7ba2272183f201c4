// W3C Trace Context: headers that join a trace, headers that start one, and the tracestate that is forwarded.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { childTrace, newTrace, traceFromHeaders, traceHeaders, traceparentOf } from './trace.ts'

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const parent_id = 'b7ad6b7169203331'
const valid = `00-${trace_id}-${parent_id}-01`
/** Recorded random values, all distinct. */
function recordedRandom() {
  let drawn = 0
  return (bytes: number) => (++drawn).toString(16).padStart(bytes * 2, 'e')
}
const drawnTrace = { trace_id: `${'e'.repeat(31)}1`, span_id: `${'e'.repeat(15)}2`, flags: '02', tracestate: '' }

describe('traceparent', () => {
  test.each([
    ['sampled', valid, '01'],
    ['not sampled', `00-${trace_id}-${parent_id}-00`, '00'],
    ['of a random trace id', `00-${trace_id}-${parent_id}-03`, '03'],
    ['with flags that are not defined', `00-${trace_id}-${parent_id}-ff`, '03'],
    ['with an undefined flag alone', `00-${trace_id}-${parent_id}-08`, '00'],
    ['of version 01', `01-${trace_id}-${parent_id}-01`, '01'],
    ['of version 01, which says more', `01-${trace_id}-${parent_id}-01-more-1`, '01'],
    ['of a later version', `cc-${trace_id}-${parent_id}-01-what-the-future-brings`, '01'],
    ['of a later version, ended by a dash', `cc-${trace_id}-${parent_id}-01-`, '01'],
  ])('%s is joined with a new span', (_what, header, flags) => {
    const span_id = `${'e'.repeat(15)}1`
    expect(traceFromHeaders(header, undefined, recordedRandom())).toEqual({
      trace_id,
      span_id,
      parent_id,
      flags,
      tracestate: '',
    })
  })

  test.each([
    ['nothing', ''],
    ['version ff', `ff-${trace_id}-${parent_id}-01`],
    ['a version that is not a number', `.0-${trace_id}-${parent_id}-01`],
    ['a short version', `0-${trace_id}-${parent_id}-01`],
    ['a long version', `000-${trace_id}-${parent_id}-01`],
    ['more than version 00 has', `00-${trace_id}-${parent_id}-01-more`],
    ['a trailing dash', `${valid}-`],
    ['a trailing dot', `${valid}.`],
    ['more after something else than a dash', `cc-${trace_id}-${parent_id}-01.more`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${parent_id}-01`],
    ['a parent id of zeros', `00-${trace_id}-${'0'.repeat(16)}-01`],
    ['capitals in the trace id', `00-${trace_id.toUpperCase()}-${parent_id}-01`],
    ['capitals in the parent id', `00-${trace_id}-${parent_id.toUpperCase()}-01`],
    ['capitals in the flags', `00-${trace_id}-${parent_id}-0A`],
    ['a short trace id', `00-${trace_id.slice(1)}-${parent_id}-01`],
    ['a long trace id', `00-${trace_id}0-${parent_id}-01`],
    ['a short parent id', `00-${trace_id}-${parent_id.slice(1)}-01`],
    ['a long parent id', `00-${trace_id}-${parent_id}0-01`],
    ['one flag digit', `00-${trace_id}-${parent_id}-1`],
    ['three flag digits', `00-${trace_id}-${parent_id}-001`],
    ['flags that are not a number', `00-${trace_id}-${parent_id}-0g`],
    ['no flags', `00-${trace_id}-${parent_id}`],
    ['space within the value', ` ${valid}`],
    ['a line after it', `${valid}\n`],
    ['two of them', `${valid}, ${valid}`],
  ])('%s starts a new trace, and its tracestate is ignored', (_what, header) => {
    expect(traceFromHeaders(header, 'rojo=1', recordedRandom())).toEqual(drawnTrace)
  })

  test('a header that is absent or repeated starts a new trace', () => {
    expect(traceFromHeaders(undefined, 'rojo=1', recordedRandom())).toEqual(drawnTrace)
    expect(traceFromHeaders([valid, valid], 'rojo=1', recordedRandom())).toEqual(drawnTrace)
  })

  test('written headers parse to the same trace', () => {
    const ids = fc.stringMatching(/^[0-9a-f]{31}[1-9a-f]$/)
    const flagSets = fc.constantFrom('00', '01', '02', '03')
    fc.assert(
      fc.property(ids, flagSets, (id, flags) => {
        const trace = { trace_id: id, span_id: parent_id, flags, tracestate: 'a=b' }
        const { traceparent, tracestate } = traceHeaders(trace)
        expect(traceFromHeaders(traceparent, tracestate, () => parent_id)).toEqual({ ...trace, parent_id })
      }),
    )
  })
})

describe('tracestate', () => {
  const read = (header: string | readonly string[]) => traceFromHeaders(valid, header, recordedRandom()).tracestate
  const members = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=${index}`).join(',')
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789_-*/'
  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index)).join('')

  test.each([
    ['one member', 'rojo=00f067aa0ba902b7'],
    ['two', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['space and tabs around members', 'foo=1 \t , \t bar=2,\tbaz=3'],
    ['empty members', 'foo=1,,bar=2, ,\t,'],
    ['an empty member first', ',foo=1'],
    ['a value that begins with space', 'foo=  1'],
    ['a duplicate key', 'foo=1,bar=2,foo=3'],
    ['32 members', members(32)],
    ['every character of a key', `${letters}@${letters}=1`],
    ['every character of a value', `k=${printable.replace(/[,=]/g, '')}`],
    ['a tenant and its system', 'fw529a3039@dt=FfffffCo'],
    ['the longest tenant and system', `${'t'.repeat(241)}@${'v'.repeat(14)}=1`],
    ['more than one @, as level 2 allows', 'foo@@bar=1,foo@bar@baz=2,foo@=3'],
    ['a key that begins with a digit', '0=1'],
    ['a key of 256 characters', `${'z'.repeat(256)}=1`],
    ['a value of 256 characters', `z=${'v'.repeat(256)}`],
    ['more than 512 characters', `${members(29)},x=${'v'.repeat(256)},y=${'v'.repeat(256)},z=1`],
  ])('with %s is forwarded unchanged', (_what, header) => {
    expect(read(header)).toBe(header)
  })

  test.each([
    ['nothing', ''],
    ['only empty members', ' ,\t,,'],
    ['33 members', members(33)],
    ['33 members, empty ones among them', `${members(32)},`],
    ['a key without a value', 'foo'],
    ['a key without a value among others', 'bar=1,foo'],
    ['an empty value', 'foo=,bar=3'],
    ['a value of spaces', 'foo=  ,bar=3'],
    ['an empty key', '=1'],
    ['two equals signs', 'foo=bar=baz'],
    ['space in the key', 'foo =1'],
    ['capitals in the key', 'FOO=1'],
    ['a dot in the key', 'foo.bar=1'],
    ['a key that begins with @', '@foo=1,bar=2'],
    ['a key that begins with a dash', '-foo=1'],
    ['a key of 257 characters', `foo=1,${'z'.repeat(257)}=1`],
    ['a value of 257 characters', `foo=1,z=${'v'.repeat(257)}`],
    ['a tab in a value', 'foo=a\tb'],
    ['a line break', 'foo=1\r\nx-forged: 1'],
    ['a null byte', 'foo=1\0'],
    ['characters beyond ASCII', 'foo=naïve'],
    ['space beyond ASCII around it', '\u00a0foo=1'],
    ['semicolons between members', 'foo=1;=2'],
  ])('with %s is dropped, and the trace is still joined', (_what, header) => {
    expect(traceFromHeaders(valid, header, recordedRandom())).toMatchObject({ trace_id, flags: '01', tracestate: '' })
  })

  test('in several fields is one list, in order', () => {
    expect(read(['foo=1,bar=2', '', 'baz=3'])).toBe('foo=1,bar=2,,baz=3')
    expect(read([members(31), 'x=1', 'y=1'])).toBe('')
  })

  test('of a later version is parsed alike', () => {
    expect(traceFromHeaders(`01-${trace_id}-${parent_id}-01-x`, 'foo=1', recordedRandom()).tracestate).toBe('foo=1')
  })

  test('that is too long to forward loses its long members, and keeps the order of the others', () => {
    const long = Array.from({ length: 29 }, (_, index) => `l${index}=${'v'.repeat(256)}`).join(',')
    const fits = `${long},z=1`.padEnd(8_192)
    expect(read(fits)).toBe(fits)
    const short = `s=${'v'.repeat(126)}`
    expect(read(`${short},${fits},last=1`)).toBe(`${short},last=1`)
  })
})

describe('a trace', () => {
  test('that starts here has random ids, the random flag, and is not sampled', () => {
    expect(newTrace(recordedRandom())).toEqual(drawnTrace)
  })

  test('continues in a child with a new span', () => {
    const trace = traceFromHeaders(valid, 'rojo=1', recordedRandom())
    const random = recordedRandom()
    random(8)
    expect(childTrace(trace, random)).toEqual({ ...trace, parent_id: trace.span_id, span_id: `${'e'.repeat(15)}2` })
  })

  test('is sent with the current span as parent, and without an empty tracestate', () => {
    const trace = traceFromHeaders(valid, 'rojo=1', recordedRandom())
    const traceparent = `00-${trace_id}-${trace.span_id}-01`
    expect(traceparentOf(trace)).toBe(traceparent)
    expect(traceHeaders(trace)).toEqual({ traceparent, tracestate: 'rojo=1' })
    expect(traceHeaders({ ...trace, tracestate: '' })).toEqual({ traceparent })
  })
})
