// Labels of charts lie within the picture, and none covers another, for any names and figures.
import { expect, test } from 'vitest'
import type { BarChart, LineChart } from './chart.ts'
import { buildBlockingChart, buildScoreChart, buildWeightChart } from './lens-charts.ts'
import { renderBarChartSvg, renderLineChartSvg } from './svg.ts'

type TextBox = { text: string; left: number; right: number; top: number; bottom: number }

/** Mean width of a letter in em of DejaVu Sans, which is wider than most. */
const letter_em = 0.56

/** Reads the boxes of all labels from the picture itself. */
function readTextBoxes(svg: string): TextBox[] {
  return [...svg.matchAll(/<text ([^>]*)>([^<]*)<\/text>/g)].map(([, attributes = '', escaped = '']) => {
    const read = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1]
    const [x, y, size] = [Number(read('x')), Number(read('y')), Number(read('font-size') ?? 12)]
    const text = escaped.replaceAll(/&[^;]+;/g, '.')
    const width = [...text].length * letter_em * size
    const left = x - width * ({ middle: 0.5, end: 1 }[read('text-anchor') ?? 'start'] ?? 0)
    return { text, left, right: left + width, top: y - size * 0.8, bottom: y + size * 0.2 }
  })
}

function expectReadable(svg: string): void {
  const boxes = readTextBoxes(svg)
  const [, width = 0, height = 0] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)?.map(Number) ?? []
  for (const [at, box] of boxes.entries()) {
    expect(box.left, box.text).toBeGreaterThanOrEqual(-2)
    expect(box.right, box.text).toBeLessThanOrEqual(width + 2)
    expect(box.bottom, box.text).toBeLessThanOrEqual(height)
    for (const other of boxes.slice(at + 1)) {
      const overlaps =
        box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom
      expect(overlaps, `${box.text} | ${other.text}`).toBe(false)
    }
  }
}

test('the scores: the title, the label of the axis and that of the cut, wherever it is', () => {
  const scores = Float64Array.from({ length: 1_000 }, (_, at) => (at % 100) - 50)
  for (const cut of [-50, 0, 49])
    expectReadable(renderLineChartSvg(buildScoreChart('persons 1.0.0: scores of compared pairs', 'bits', scores, cut)))
})

test('several marks at one place, and more lines than fit beside each other', () => {
  const chart: LineChart = {
    title: 'pairs by threshold',
    x: { label: 'score', from: 0, to: 1 },
    y: { label: 'measure', from: 0, to: 1 },
    series: Array.from({ length: 6 }, (_, at) => ({ name: `a measure with a long name ${at}`, points: [] })),
    marks: [
      { at: 0.5, label: 'F1 0.987' },
      { at: 0.51, label: 'cut in force' },
    ],
  }
  expectReadable(renderLineChartSvg(chart))
})

test('blocking: a long rule, and the blocks that were left out', () => {
  const rules = [
    {
      rule: 'surname:phonetic + date_of_birth:year_month + postcode:prefix(3)',
      pairs: 1_234_567,
      largest: 9,
      left_out_count: 1_234,
    },
    { rule: 'email', pairs: 0, largest: 0, left_out_count: 0 },
  ]
  const svg = renderBarChartSvg(buildBlockingChart('persons 1.0.0: pairs that share a key', rules))
  expectReadable(svg)
  expect(svg).toContain('1234567, 1234 blocks left out')
})

test('weights: one heading for each field, and its levels below it in order', () => {
  const levels = ['surname', 'city'].flatMap((field) =>
    ['equal', 'alike, same sound or short form', 'different'].map((level, at) => ({ field, level, bits: 6 - 5 * at })),
  )
  const svg = renderBarChartSvg(buildWeightChart('persons 1.0.0: worth of each level', levels))
  expectReadable(svg)
  const texts = readTextBoxes(svg).map(({ text }) => text)
  const order = texts.filter((text) => /^(surname|city|equal|alike|different)/.test(text))
  expect(order.map((text) => text.slice(0, 5))).toEqual([
    'surna',
    'equal',
    'alike',
    'diffe',
    'city',
    'equal',
    'alike',
    'diffe',
  ])
})

test('names and notes in letters of double width are abridged', () => {
  const chart: BarChart = {
    title: '見出し'.repeat(60),
    measure: 'bits',
    bars: [{ name: '名前'.repeat(40), to: -3, note: '値'.repeat(90) }],
  }
  expectReadable(renderBarChartSvg(chart))
  expect(renderBarChartSvg(chart)).toContain('…')
})
