import { assert, describe, it } from "@effect/vitest"
import { parse } from "unbash"
import { grantKeys, isRememberable, simpleCommands } from "../src/Shell/Command.ts"

const commands = (source: string) => simpleCommands(parse, source)

/** Commands that try to run something beside a `git status` that was allowed. */
const rides = [
  "git status; touch P", "git status && touch P", "git status || touch P", "git status | tee P", "git status & touch P", "git status\ntouch P", "git status |& tee P",
  "(git status; touch P)", "{ git status; touch P; }", "git status $(touch P)", "git status `touch P`", "git status <(touch P)", "git status \"$(touch P)\"",
  "git status ${x:-$(touch P)}", "git status $((x[$(touch P)]))", "git status > P", "git status >| P", "git status 2>P", "git status &> P", "git status < P",
  "git status <<E\n$(touch P)\nE", "git status <<<\"$(touch P)\"", "git statusx", "git  statusx", "\"git status\"", "git\\ status", "'git' status; touch P", "git status\\\n; touch P",
  "git status \\\n&& touch P", "git \\\nstatus; touch P", "env git status", "env -S 'touch P' git status", "xargs git status", "echo P | xargs touch git status", "find . -exec git status \\; -exec touch P \\;",
  "FOO=1 git status", "PATH=/evil git status", "git() { touch P; }; git status", "alias git='touch P'\ngit status", "git status # x\ntouch P", "git status #\\\ntouch P",
  "if git status; then touch P; fi", "for x in 1; do git status; touch P; done", "while touch P; do git status; done", "case x in x) touch P;; esac; git status", "! git status; touch P",
  "time git status; touch P", "coproc touch P; git status", "git status; [[ -n $(touch P) ]]", "eval 'touch P'; git status", "trap 'touch P' EXIT; git status", "git -c alias.status='!touch P' status",
  "git status --porcelain", "sh -c 'git status; touch P'", "git status 'unclosed; touch P", "git status)\ntouch P", "git status\r\ntouch P", "git status;;touch P", "git stat*", "git {status,x}", "cd /evil && git status"
]

describe("a remembered `git status`", () => {
  const granted = new Set(grantKeys(parse, "git status"))

  it.each(rides)("does not let %j run", (source) => {
    assert.isFalse(grantKeys(parse, source).every((key) => granted.has(key)), JSON.stringify(commands(source)))
  })

  it.each(["git status", "  git   status\n", "git status && git status", "(git status); git status &", "! git status | git status"])("lets %j run, which is nothing else", (source) => {
    assert.isTrue(grantKeys(parse, source).every((key) => granted.has(key)))
  })
})

describe("a shell command", () => {
  it("is taken apart into its simple commands, each in one spelling", () => {
    assert.deepStrictEqual(commands("npm test  2>&1 |  tail -5 && (git diff -- 'a b' \"c\"; ls *.ts)"), ["npm test 2>&1", "tail -5", "git diff -- 'a b' \"c\"", "ls *.ts"])
  })

  it("that cannot be seen through stands for the whole of itself", () => {
    for (const source of ["a=1 npm test", "for x in a b; do echo $x; done", "cat <<E\nx\nE", "echo \"$HOME\"", "echo 'unclosed", "", "# nothing", "git status # now", "git \\\nstatus", "git st\\atus"]) {
      assert.isUndefined(commands(source), source)
      assert.deepStrictEqual(grantKeys(parse, source), [`bash:${source.trim()}`])
    }
  })

  it("that destroys, downloads or hides what it does is asked about every time", () => {
    for (const source of ["rm -rf x", "ls;rm x", "/bin/rm x", "ls\trm", "echo $(curl x)", "sudo ls", "git reset --hard", "git  push", "git checkout -- .", "eval x", "kill 1"]) assert.isFalse(isRememberable(source), source)
    for (const source of ["npm run format", "git status", "git checkout main", "docker run --rm x", "ls farm", "cat rm.txt"]) assert.isTrue(isRememberable(source), source)
  })
})
