import { PipelineError } from '../../data/errors.ts'
import type { JudgeConfig } from '../../judge/config.ts'
import { createJudge, type JudgeSurroundings } from '../../judge/create.ts'
import { noticeText, type OpenJudge } from '../../judge/judge.ts'

/**
 * Opens the judge of a config with no verdict of before: what an audit hears must come from the judge as it is now, and
 * what it asks must not stand in the cache of a training.
 */
export const openFreshJudge = async (
  config: JudgeConfig,
  surroundings: JudgeSurroundings,
  say: (text: string) => void,
): Promise<OpenJudge> => {
  const fresh: JudgeConfig = config.kind === 'llm' ? { ...config, cache: { ...config.cache, dir: null } } : config
  const judge = await createJudge(fresh, surroundings)
  if (judge === null)
    throw new PipelineError('usage', 'there is no judge to audit: the config has judge.kind none', {
      remedy: 'Set judge.kind to llm or reference.',
    })
  judge.watch?.((notice) => say(noticeText(notice)))
  return judge
}
