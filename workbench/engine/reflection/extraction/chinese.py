"""What somebody says in Chinese of himself and his things: likes, decisions, home, work, family, health, numbers."""

from __future__ import annotations

from typing import Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_MANNER = (
    r"(?:也|都|很|最|更|非常|特别|特別|一直|已经|已經|刚刚|剛剛|刚|剛|现在|現在|真的|比较|比較|从来|從來"
    r"|今年|去年|上个月|上周|昨天|今天)*"
)
_NOT = r"(?:不再|不|没有|沒有|没|沒)?"
_KINDS: Final = (
    ("decision", 5.0, r"(?:决定|決定|选择了?|選擇了?|选了|選了|改用|采用|採用|打算用|换成|換成)"),
    (
        "preference",
        4.5,
        r"(?:喜欢|喜歡|讨厌|討厭|偏好|更愿意|更願意|爱|愛|习惯用?|習慣用?|吃素|吃|喝)(?!了|过|過)",
    ),
    ("home", 5.0, r"(?:住在|搬到|搬去|搬家|来自|來自|老家在|出生于|出生在)"),
    (
        "work",
        5.0,
        r"(?:在[^,，。]{1,12}(?:工作|上班|上学|上學|读书|讀書)|辞职|辭職|换了?工作|換了?工作|毕业|畢業|入职|入職|退休|升职|升職)",
    ),
    (
        "health",
        5.0,
        r"(?:对[^,，。]{1,8}(?:过敏|過敏)|對[^,，。]{1,8}過敏|过敏|過敏|戒了?[烟煙酒]|怀孕|懷孕|做了?手术|做了?手術)",
    ),
    (
        "family",
        5.0,
        r"(?:结婚|結婚|离婚|離婚|有[^,，。]{0,4}(?:孩子|女儿|女兒|儿子|兒子|猫|貓|狗)|养了?[^,，。]{0,4}[猫貓狗])",
    ),
    ("begun", 4.5, r"(?:开始学|開始學|开始|開始|在学|在學|报名|報名|参加了|參加了)"),
)
_OWN_KIN = lazy_pattern(
    r"^我(?:的)?(?:女儿|女兒|儿子|兒子|妻子|太太|老婆|丈夫|先生|老公|妈妈|媽媽|爸爸|姐姐|妹妹|哥哥|弟弟|猫|貓|狗|生日|名字|职业|職業)"
    r".{0,4}(?:叫|是|在|住|喜欢|喜歡|过敏|過敏)"
)
_PATTERNS: Final = tuple(
    (kind, value, lazy_pattern(rf"^(?:我|我们|我們|用户|用戶){_MANNER}{_NOT}{_MANNER}{verbs}"))
    for kind, value, verbs in _KINDS
)
# What is said of a thing: “总预算定在18万元”, “空调装了3台”, and what was chosen for it: “地板我们决定用实木的”.
_THING: Final = r"^(?!这|那|它|他|她|今天|昨天|刚才|隔壁|邻居|别人|人家|一[个箱块])[\u4e00-\u9fff·]{2,14}?"
_MEASURED = lazy_pattern(
    rf"{_THING}(?:是|在|有|一共|共|总共|定在|定了|花了|加到|降到|涨到|换了|换成|改铺|改成|改到|选了|装了|买了|推迟到|提前到"
    r"|开始|宽|长|高|需要|要|用了|还剩|还有|到)[^?？]{0,40}?\d"
)
_CHOSEN = lazy_pattern(
    rf"{_THING}(?:我们?|最后|后来|终于|没用[^,，]{{1,4}}[,，]){{0,3}}(?:决定|选了|选的是|换成了?|改铺了?|改成了?|改用了?|改铺)[^,，]{{2,}}"
)
_ROLE = lazy_pattern(
    r"^(?:现在的|新的|我们的|我的)?(?:工长|老板|医生|老师|经理|房东|主任|导师|教练|负责人|项目经理|同事)(?:是|姓|叫)[\u4e00-\u9fff]"
)
_UNSURE = lazy_pattern(
    r"[?？]|[吗嗎呢吧](?:[。.!！]|$)|如果|要是|可能|也许|也許|希望|想要?|觉得|覺得|你|您|谢谢|謝謝"
)
_OPENING = lazy_pattern(
    r"^(?:嗯|哦|对|對|是的|好的|其实|其實|另外|还有|還有|所以|但是|不过|不過|顺便说一下|第[一二三四五]|主要是|好)[,，、]?\s*"
)
_LONGEST: Final = 120
_OF_A_CHOICE: Final = 4.6
_OF_A_THING: Final = 3.8


@dataclass(frozen=True, slots=True)
class Said:
    """A Chinese statement of somebody about himself: what kind, how much worth, and where it begins."""

    kind: str
    value: float
    start: int


def said_in_chinese(sentence: str) -> Said | None:
    """Return what a sentence says of its speaker; None where it asks, supposes, addresses or says nothing known."""
    if len(sentence) > _LONGEST or _UNSURE.search(sentence):
        return None
    opening = _OPENING.match(sentence)
    start = opening.end() if opening else 0
    plain = sentence[start:]
    for kind, value, pattern in _PATTERNS:
        if pattern.match(plain):
            return Said(kind, value, start)
    if _CHOSEN.match(plain):
        return Said("decision", _OF_A_CHOICE, start)
    if _MEASURED.match(plain) or _ROLE.match(plain):
        return Said("circumstance", _OF_A_THING, start)
    return Said("family", _KINDS[-2][1], start) if _OWN_KIN.match(plain) else None
