import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as grammar from "unbash"
import { mayBeProtected } from "../src/ProtectedPaths.ts"
import { pathsIn } from "../src/ShellPaths.ts"

const isProtected = (word: string) => mayBeProtected(word, [".pi/extensions"])
const seen = (source: string): "changes" | "names" | "nothing" => {
  const { named, written } = pathsIn(grammar, source)
  return [...written].some(isProtected) ? "changes" : [...named].some(isProtected) ? "names" : "nothing"
}

describe("a shell command", () => {
  it.each([
    "echo x > .git/config", "echo x >> \"$HOME/.nimlet/config.json\"", "echo x >| ~/.nimlet/trust.json", "make &> .git/log", "make >& .git/log", "true <> .git/x", "2>.nimlet/x ls", "> .git/index",
    "cat a | tee -a .git/hooks/pre-commit", "echo $(cat a > .git/x)", "x=`touch .git/x`", "ls > >(tee .git/x)", "f() { rm .git/x; }; f", "if true; then touch .nimlet/x; fi", "for i in 1; do cp a .git/x; done",
    "{ echo a; echo b; } > .git/x", "(ls) > .git/x", "cat <<E > .git/hooks/x\nhi\nE", "[[ -n $(rm .git/x) ]]", "case x in x) touch .git/x;; esac", "true && touch .git/x || :", "! rm .git/x",
    "cp a .git/hooks/post-merge", "cp -t .git/hooks a b", "cp --target-directory=.git/hooks a", "mv .git/hooks/a b", "mv a .git", "ln -s /evil .git/hooks/x", "install -m 755 a .git/hooks/x", "rsync -a a/ .pi/extensions/",
    "sed -i s/a/b/ .git/config", "sed -E -i.bak s/a/b/ .git/config", "perl -pi -e s/a/b/ .git/config", "dd if=/dev/zero of=.git/x", "chmod +x .git/hooks/a", "truncate -s 0 .git/x", "sort a -o .git/x", "curl u -o .git/hooks/x",
    "gcc a.c --output=.git/x", "find .git -name x -delete", "find .git/hooks -exec chmod +x {} +", "sudo tee .git/x", "env A=1 rm .git/x", "timeout 5 rm -rf .git", "nice -n 10 sudo -u me touch .git/x", "xargs rm .git/x",
    "sh -c 'echo x > .git/x'", "bash -lc \"touch .git/x\"", "sudo bash -c 'sh -c \"rm .git/x\"'", "eval 'rm .git/x'", "eval rm .git/x", "trap 'rm .git/x' EXIT", "bash <<E\nrm .git/x\nE", "/bin/rm .git/x", "\"rm\" .git/x", "r\\m .git/x",
    "cd .git && rm -f index.lock", "cd .git/hooks; echo x > ./pre-commit", "pushd .nimlet\ntouch x", "cd sub/../.git && touch x", "cd sub && rm ../.git/x", "touch a/./b/../.git/x", "rm -rf .*", "rm -rf .g*", `rm -rf .g${"*".repeat(20_000)}`, "rm .[g]it/x", "rm .gi?/x",
    "find . -name a -exec cp {} .git/x \\;", "find a -exec tee .git/x \\;", "find . -execdir touch ../p/.git/x {} +", "find a -exec true \\; -ok sh -c 'rm .git/x' \\;", "find a -fprint .git/x", "find a -fprintf .git/x %p",
    "curl -so .git/x u", "git diff --output=.git/x", "git log --output .git/x", "builtin cd .git; touch x", "command cd .git && rm x", "touch .{git,x}/y", "touch {a,.git/b}", "rm '.git'/x", "rm .g'i't/x", "rm .g\\it/x", "rm $'.git/x'", "touch .GIT/x", "touch .agents/skills/a/SKILL.md", "cat a > $x/.git/y", "echo 'unclosed\" > .git/x'; rm .git/x"
  ])("is seen to change a protected file by %j", (source) => assert.strictEqual(seen(source), "changes"))

  it.each([
    "python3 -c \"open('.git/x','w')\"", "node e.mjs .git/x", "node e.mjs --out=a --dir=.git", "git checkout -- .nimlet/config.json", "git -C .git config a b", "ssh host 'rm .git/x'", "X=.git/x; echo > $X", "export X=.git/x", "tar -xf a -C .git",
    "for f in .git/hooks/*; do rm $f; done", "ls .git/hooks | xargs rm", "find .git -type f | parallel rm", "python3 - <<E\nopen('.git/x', 'w')\nE", "cp .git/config a", "unzip a -d .pi/extensions", "npm run x -- .git/y",
    "echo 'unclosed .git/x", "bash script.sh .git", "sh -c 'rm \"$1\"' _ .git/x", "perl -e 'unlink \".git/x\"'", "sudo ./x .git/y"
  ])("is seen to name a protected file by %j", (source) => assert.strictEqual(seen(source), "names"))

  it.each([
    "cat .git/HEAD", "ls -la .git ~/.nimlet", "git status", "git log -- .nimlet", "git add .nimlet/config.json", "grep -r x . --exclude-dir=.git", "grep -rl a . --exclude-dir .git | head", "tar --exclude=.git -czf a.tgz .", "rsync -a --exclude .git a/ b/",
    "find . -path ./.git -prune -o -type f -print", "find . -exec cp {} out +", "command ls .git; touch x", "git diff --stat .git", "find . -type f -not -path './.git/*' -exec sed -i s/a/b/ {} +", "cat .git/HEAD > head.txt", "diff .git/config a", "[ -d .git ] && echo yes", "test -f .git/x", "sed -n 1p .git/config", "wc -l < .git/config",
    "touch .gitignore .github/x", "rm -rf node_modules", "rm *", "rm -rf dist/*", "echo x > a 2>&1", "cd .git && ls", "cd .git; ls; cd ..; touch a", "npm test 2>/dev/null", "mkdir -p src/git", "echo '.git/x'", "cat <<E > a\n.git/x\nE", "", "# .git", "npx eslint --ignore-pattern .git ."
  ])("is seen to do nothing to one by %j", (source) => assert.strictEqual(seen(source), "nothing"))

  it.each([["$(", ""], ["\"$(", ""], ["( ", ""], ["$((", ""], ["{ ", ""], ["if true; then ", ""], ["sh -c \"", ""], ["${a:-", "}"]])("as deep as %j makes it is named for what it says, if not seen through", (open, close) => {
    assert.notStrictEqual(seen(`${open.repeat(5_000)} rm .git/x ${close.repeat(5_000)}`), "nothing")
  })

  it.effect.prop("is looked through whatever it is", [Schema.Array(Schema.Literals(["rm", " ", ".git/x", "$(", ")", "`", "'", "\"", "\n", "<<E", "{", "}", ",", ">", "cd ..", "|", "xargs", "\\", "[", "*", "sh -c ", ";"]))], ([parts]) =>
    Effect.sync(() => void seen(parts.join(""))))
})
