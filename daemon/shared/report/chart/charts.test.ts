// Each chart has a name, a text in its place and its figures as a table, and stays bounded for any input.
import { describe, expect, test } from 'vitest'
import { type BarRow, renderBarChart } from './bar-chart.ts'
import { fitLabel } from './figure.ts'
import { renderScoreStrip } from './score-strip.ts'
import { renderStarChart } from './star-chart.ts'
import { renderTimeChart } from './time-chart.ts'
import { renderWaterfall } from './waterfall-chart.ts'
import { renderWeekChart } from './week-chart.ts'

const many = 5_000
const names = Array.from({ length: many }, (_, at) => `name ${at} <b>"${'x'.repeat(500)}`)
const bars = (values: readonly number[]) =>
  renderBarChart({
    ...{ title: 'Bars', description: 'Of values.', measure: 'messages', rowHeading: 'name' },
    rows: values.map(
      (value, at): BarRow => ({ name: names[at] ?? '', parts: [{ tone: 'c1', value }], text: `${value}` }),
    ),
  }).toString()
const fall = (changes: readonly number[]) =>
  renderWaterfall({
    ...{
      title: 'Fall',
      description: 'Of steps.',
      measure: 'score',
      rowHeading: 'name',
      marks: [{ at: 0.8, label: 'cut' }],
    },
    start: { name: 'start', value: 0.5 },
    steps: changes.map((change, at) => ({ name: names[at] ?? '', change })),
    end: { name: 'end', value: 0.5 + changes.reduce((sum, change) => sum + change, 0) },
  }).toString()
const opinions = names.map((name, at) => ({ name, score: at / many, weight: (at % 10) / 10 }))

const charts = {
  bars: bars(names.map((_, at) => at)),
  waterfall: fall(names.map((_, at) => (at % 2 === 0 ? 1 : -1) * 1e-5)),
  strip: renderScoreStrip({ opinions, score: 0.4, ratify_threshold: 0.8, belief: 0.3, plausibility: 0.6 }).toString(),
  star: renderStarChart(
    'alpha',
    names.map((name) => ({ name, out: 'good', in: 'poor', text: 'out open' })),
  ).toString(),
  time: renderTimeChart({
    ...{ title: 'Time', description: 'Of records.', measure: 'time', start: 0, step_ms: 3_600_000 },
    series: [{ name: 'done', tone: 'c1', counts: names.map((_, at) => at) }],
  }).toString(),
  week: renderWeekChart(
    'Week',
    Array.from({ length: 168 }, (_, at) => at),
  ).toString(),
}

describe.each(Object.entries(charts))('%s', (_, chart) => {
  test('has a name, a caption, and its figures as a table', () => {
    expect(chart).toMatch(/<svg viewBox="0 0 \d+ [\d.]+" role="img" aria-label="[^"]{10,}">/)
    expect(chart).toMatch(/<figcaption>[^<]{9,}<\/figcaption>/)
    expect(chart).toMatch(/<details>.*<th scope="col".*<th scope="row"/)
  })

  test('has numbers alone as coordinates, no mark-up of a name, and a bounded size', () => {
    expect(chart).not.toMatch(/NaN|Infinity|undefined|<b>/)
    expect(chart.length).toBeLessThan(1_500_000)
  })
})

test('a list that is not drawn as a whole says how much is', () => {
  expect(charts.bars).toContain('The first 40 of 5000 are drawn.')
  expect(charts.waterfall).toContain('4971 others')
  expect(charts.strip).toContain('Of 5000 opinions, the 20 lowest and the 20 highest are drawn.')
  expect(charts.star).toContain('The first 24 of 5000 peers are drawn.')
  expect(charts.time).toContain('60 of 4999 are listed')
})

test('the length of a bar is its share of the axis', () => {
  const widths = [...bars([50, 100, 25]).matchAll(/<rect class="c1"[^>]* width="([\d.]+)"/g)].map(([, width]) =>
    Number(width),
  )
  expect((widths[0] ?? 0) / (widths[1] ?? 1)).toBeCloseTo(0.5, 2)
  expect((widths[2] ?? 0) / (widths[1] ?? 1)).toBeCloseTo(0.25, 2)
})

test('each step of a waterfall begins where the one before ends', () => {
  const steps = [...fall([0.2, -0.1, 0.3]).matchAll(/<rect class="(c1|c2)" x="([\d.]+)"[^>]* width="([\d.]+)"/g)]
  const [first, second, third] = steps.map(([, tone, x, width]) => ({
    tone,
    from: Number(x),
    to: Number(x) + Number(width),
  }))
  expect(second).toMatchObject({ tone: 'c2', to: expect.closeTo(first?.to ?? 0, 0) })
  expect(third).toMatchObject({ tone: 'c1', from: expect.closeTo(second?.from ?? 0, 0) })
})

test('empty charts say so', () => {
  expect(bars([])).toBe('<p>Bars: none.</p>')
  expect(fall([])).not.toMatch(/NaN|Infinity/)
  expect(renderScoreStrip({ opinions: [], score: null, ratify_threshold: 0.8 }).toString()).not.toMatch(
    /NaN|combined \d/,
  )
})

test('a label is cut by the width of its letters, and marks do not pile up', () => {
  expect(fitLabel('abcdefghij', 5)).toBe('abcd…')
  expect(fitLabel('漢字漢字', 5)).toBe('漢…')
  expect(fitLabel(`a${'\u0301'.repeat(50)}b`, 5)).toBe('a\u0301\u0301b')
})
