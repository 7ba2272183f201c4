// Which settings of traces have spans told, and which are refused.
import { expect, test } from 'vitest'
import { areSpansEnabled, traceSettings } from './trace-settings.ts'

const spansEnabled = (given: object) => areSpansEnabled(traceSettings.schema.parse(given))
const endpoint = 'http://collector:4318'

test.each([
  [{}, false],
  [{ endpoint }, true],
  [{ exporter: 'otlp' }, true],
  [{ enabled: true }, true],
  [{ enabled: 'True' }, true],
  [{ enabled: 'False', endpoint }, false],
  [{ enabled: false, exporter: 'otlp' }, false],
  [{ enabled: true, exporter: 'none' }, false],
  [{ enabled: true, disabled: true, endpoint }, false],
  [{ enabled: true, protocol: 'http/json' }, true],
])('%j has spans told: %s', (given, is) => {
  expect(spansEnabled(given)).toBe(is)
})

test('a protocol that is not spoken is refused with what to do, and so is a switch that is neither', () => {
  for (const protocol of ['grpc', 'http/protobuf', '']) {
    expect(() => spansEnabled({ protocol })).toThrow(
      /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/json.*OTEL_EXPORTER_OTLP_ENDPOINT/,
    )
  }
  expect(() => spansEnabled({ enabled: 'perhaps' })).toThrow(/OTEL_ENABLED must be true or false/)
})
