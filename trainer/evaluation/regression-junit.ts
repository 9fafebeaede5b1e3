import type { RegressionTest, RegressionVerdict } from '../../data/records/regression.ts'
import { escapeXml } from './markup.ts'

const describe = (test: RegressionTest): string =>
  `${test.base.toFixed(4)} → ${test.trained.toFixed(4)} over ${test.prompts} prompts (${test.wins} up, ${test.ties} same, ${test.losses} down), q ${test.q.toPrecision(3)}, margin ${test.margin.toFixed(4)}`

const testCase = (test: RegressionTest): string => {
  const open = `    <testcase classname="regression.${test.level}" name="${escapeXml(test.name)}"`
  if (!test.regressed) return `${open}/>`
  const failure = `      <failure type="regression" message="fell by ${(-test.delta).toFixed(4)}">${escapeXml(describe(test))}</failure>`
  return [`${open}>`, failure, '    </testcase>'].join('\n')
}

const skipped = (text: string): string =>
  `    <testcase classname="regression" name="${escapeXml(text)}"><skipped/></testcase>`

/** A verdict in JUnit's XML: one test case a test, so that a CI shows which one fell. */
export const junitVerdict = ({ tests, regressions, notTested, base, trained }: RegressionVerdict): string => {
  const counts = `tests="${tests.length + notTested.length}" failures="${regressions.length}" errors="0" skipped="${notTested.length}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="drift-grpo regress" ${counts}>`,
    `  <testsuite name="${escapeXml(`${base} against ${trained}`)}" ${counts}>`,
    ...tests.map(testCase),
    ...notTested.map(skipped),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')
}
