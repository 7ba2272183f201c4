// Charts are the same every time, hold what they say, and take no mark-up from the names they show.
import { describe, expect, test } from 'vitest'
import { computeTicks, interpolateSeries, type LineChart } from './chart.ts'
import { renderBarChartSvg, renderLineChartSvg } from './svg.ts'
import { renderBarChartText, renderLineChartText } from './text.ts'

const waterfall = {
  title: 'why',
  measure: 'bits',
  bars: [
    { name: 'prior', to: -4 },
    { name: 'surname', from: -4, to: 4 },
    { name: 'city', from: 4, to: 2 },
  ],
}

const lineChart: LineChart = {
  title: 'measures',
  x: { label: 'threshold', from: 0, to: 10 },
  y: { label: '', from: 0, to: 1 },
  series: [
    {
      name: 'precision',
      points: [
        [0, 0],
        [10, 1],
      ],
    },
    { name: 'part', points: [[0, 0.5]], isSteps: true },
  ],
  marks: [{ at: 5, label: 'best' }],
}

describe('scales', () => {
  test('have round numbers within their bounds', () => {
    expect(computeTicks(0, 1)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1])
    expect(computeTicks(-7, 23)).toEqual([0, 10, 20])
    expect(computeTicks(3, 3)).toEqual([3])
  })

  test('lines go straight from point to point, steps hold', () => {
    const [line, steps] = lineChart.series
    expect(line && interpolateSeries(line, 2.5)).toBe(0.25)
    expect(line && interpolateSeries(line, 11)).toBeUndefined()
    expect(steps && interpolateSeries(steps, 9)).toBe(0.5)
  })
})

describe('text', () => {
  test('bars begin where the last one ended, minus signs speak against', () => {
    expect(renderBarChartText(waterfall, 40).split('\n')).toEqual([
      'why',
      'prior   ---------------              -4',
      'surname ############################ 8',
      'city                  |     -------- -2',
      '        bits, -4 to 4',
    ])
  })

  test('lines have a letter each, and marks are named', () => {
    const drawn = renderLineChartText(lineChart, 40, 11)
    expect(drawn).toMatch(/^measures: p precision, a part/)
    expect(drawn).toContain(': best (5)')
    expect(drawn.split('\n')[1]).toMatch(/^1 \| .* p+$/)
  })
})

describe('SVG', () => {
  test('is one document with every name and figure, the same each time', () => {
    const drawn = renderBarChartSvg(waterfall)
    expect(renderBarChartSvg(waterfall)).toBe(drawn)
    for (const { name } of waterfall.bars) expect(drawn).toContain(`>${name}</text>`)
    expect(renderLineChartSvg(lineChart).match(/<polyline/g)).toHaveLength(2)
    expect(renderLineChartSvg(lineChart)).toContain('>best</text>')
  })

  test('holds no mark-up of names, and nothing that XML forbids', () => {
    const hostile = '</text><script>alert("1")</script>&\u0000\u202e\ud800'
    const drawn = renderBarChartSvg({
      title: hostile,
      measure: hostile,
      bars: [{ name: hostile, to: 1, note: hostile }],
    })
    expect(drawn).not.toMatch(/<script|[\p{Cf}]|&(?!amp;|lt;|gt;|quot;|#39;)/u)
    expect(drawn).not.toContain('\u0000')
    expect(drawn.isWellFormed()).toBe(true)
  })

  test('nothing to show is still a picture', () => {
    expect(renderBarChartSvg({ title: 'none', measure: 'pairs', bars: [] })).toContain('</svg>')
    expect(renderLineChartSvg({ ...lineChart, series: [] })).toContain('</svg>')
  })
})
