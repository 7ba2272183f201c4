// Charts are deterministic, show all their data, and escape mark-up in names.
import { describe, expect, test } from 'vitest'
import { computeTicks } from '../../../shared/report/chart/ticks.ts'
import { interpolateSeries, type LineChart } from './chart.ts'
import { renderBarChartSvg, renderLineChartSvg } from './svg.ts'
import { renderBarChartText, renderLineChartText } from './text.ts'

const waterfall = {
  title: 'waterfall',
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
  test('ticks are round numbers within the bounds', () => {
    expect(computeTicks(0, 1)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1])
    expect(computeTicks(-7, 23)).toEqual([0, 10, 20])
    expect(computeTicks(3, 3)).toEqual([3])
  })

  test('lines are straight between points; steps keep their value', () => {
    const [line, steps] = lineChart.series
    expect(line && interpolateSeries(line, 2.5)).toBe(0.25)
    expect(line && interpolateSeries(line, 11)).toBeUndefined()
    expect(steps && interpolateSeries(steps, 9)).toBe(0.5)
  })
})

describe('text', () => {
  test('a bar begins where the last one ended; minus signs mark negative bars', () => {
    expect(renderBarChartText(waterfall, 40).split('\n')).toEqual([
      'waterfall',
      'prior   ---------------              -4',
      'surname ############################ 8',
      'city                  |     -------- -2',
      '        bits, -4 to 4',
    ])
  })

  test('each line has a letter, and each mark a name', () => {
    const rendered = renderLineChartText(lineChart, 40, 11)
    expect(rendered).toMatch(/^measures: p precision, a part/)
    expect(rendered).toContain(': best (5)')
    expect(rendered.split('\n')[1]).toMatch(/^1 \| .* p+$/)
  })
})

describe('SVG', () => {
  test('is a deterministic document with every name and figure', () => {
    const rendered = renderBarChartSvg(waterfall)
    expect(renderBarChartSvg(waterfall)).toBe(rendered)
    for (const { name } of waterfall.bars) expect(rendered).toContain(`>${name}</text>`)
    expect(renderLineChartSvg(lineChart).match(/<polyline/g)).toHaveLength(2)
    expect(renderLineChartSvg(lineChart)).toContain('>best</text>')
  })

  test('contains no mark-up from names and no characters that XML forbids', () => {
    const hostile = '</text><script>alert("1")</script>&\u0000\u202e\ud800'
    const rendered = renderBarChartSvg({
      title: hostile,
      measure: hostile,
      bars: [{ name: hostile, to: 1, note: hostile }],
    })
    expect(rendered).not.toMatch(/<script|[\p{Cf}]|&(?!amp;|lt;|gt;|quot;|#39;)/u)
    expect(rendered).not.toContain('\u0000')
    expect(rendered.isWellFormed()).toBe(true)
  })

  test('an empty chart is a valid document', () => {
    expect(renderBarChartSvg({ title: 'none', measure: 'pairs', bars: [] })).toContain('</svg>')
    expect(renderLineChartSvg({ ...lineChart, series: [] })).toContain('</svg>')
  })
})
