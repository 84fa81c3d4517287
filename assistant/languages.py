"""Questions in other languages -> the English words of them that searching needs.

The models read English only. Names, numbers and technical terms stay as they are; of the other words, those that
questions about papers are made of are put into English, and the rest is left out. It is a word list, no translation:
it finds the paper and what kind of thing is asked, and no more is claimed.
"""

import re
from collections.abc import Callable

from assistant.wording import any_of, pattern
from vectorstore.names import looks_like_name

_FUNCTION_WORDS = pattern(
    r"\b"
    + any_of(
        "der die das den dem ein eine einem wie was wer wo wozu warum welche[rsnm]? wird werden ist sind für auf "
        "mit von im zur zum bei und nicht "
        "le la les des du un une au aux quel(?:le)?s? comment combien pourquoi est sont pour avec dans sur qui que et "
        "el los las una del qué cuál(?:es)? cómo cuánt[oa]s? por para con es son se su "
        "il lo gli della dei che cosa quale quali quant[oaie] perché è sono di nel per "
        "o os as do da dos uma qual quais como quanto[sa]? em são não ao "
        "de het een hoe hoeveel welke wat waarom wordt worden voor met op van"
    )
    + r"\b"
)
_ENGLISH_WORDS = pattern(
    r"\b"
    + any_of(
        "the a an of is are was were what which how why where when who does do did can and or for with from that this "
        "it its they their there have has be to in on by about"
    )
    + r"\b"
)
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f\u0370-\u03ff]")
_MEANINGS = {
    "how many": "wie_?viele combien cuánt[oa]s quant[ie] quant[oa]s hoeveel 多少 几个 几种 いくつ 何個 сколько 몇",
    "how much": "wie_(?:sehr|stark|viel|hoch) de_combien cuánto quanto 多大 どれくらい どのくらい 얼마나",
    "which": "welche\\w* quel\\w* qué quale quali qual quais welke 哪些 哪个 どの какие какой 어떤",
    "what": "was wat cosa 什么 何 что 무엇",
    "why": "warum weshalb pourquoi por_?qué perché waarom 为什么 なぜ почему 왜",
    "how": "wie comment cómo come hoe 如何 怎么 怎样 どうやって как 어떻게",
    "name": "heißt heissen nennt s'appelle se_llama si_chiama chama-se heet 叫什么 名前 называется",
    "model": "modell\\w* modèle\\w* modelo\\w* modell[io] modelle\\w* 模型 モデル модел\\w* 모델",
    "method": "methode\\w* verfahren ansatz méthode\\w* approche método\\w* metod[oi] aanpak 方法 手法 метод\\w* 방법",
    "papers": "arbeiten articles études artículos trabajos articoli artigos trabalhos artikelen",
    "bits": "比特 ビット",
    "paper": "arbeit papier artikel étude article\\w* trabajo\\w* "
    "articolo trabalho\\w* artigo\\w* 论文 論文 стать\\w* 논문",
    "data set": "datens[aä]tze?\\w* jeux?_de_données conjuntos?_de_da[td]os "
    "gegevensset\\w* 数据集 データセット 데이터셋",
    "data": "daten données datos dati dados gegevens 数据 データ данн\\w*",
    "task": "aufgaben? tâches? tareas? compit[oi] tarefas? taken 任务 タスク задач\\w*",
    "test": "getest\\w* tests?(?:é\\w*)? prob\\w+ testat\\w* testad\\w* 测试 テスト",
    "evaluate": "bewerte\\w* evaluier\\w* évalu\\w* evalú\\w* evaluad\\w* "
    "valutat\\w* avaliad\\w* geëvalueerd 评估 評価",
    "benchmark": "referenz\\w* 基准 ベンチマーク",
    "result": "ergebnis\\w* résultat\\w* resultado\\w* risultat\\w* resulta\\w+ 结果 結果",
    "accuracy": "genauigkeit précision exactitude precisión accuratezza precisão nauwkeurigheid 准确率 精度",
    "percentage points": "prozentpunkte\\w* points?_de_pourcentage puntos_porcentuales "
    "punti_percentuali 百分点 ポイント",
    "percent": "prozent pour_?cents? por_ciento per_cento por_cento procent 百分之",
    "improve": "verbesser\\w* amélior\\w* mejor\\w* miglior\\w* melhor\\w* verbeter\\w* 提高 提升 改进 改善 向上",
    "reduce": "reduzier\\w* senk\\w* sinkt rédui\\w* reduc\\w* rédu\\w* "
    "baja\\w* ridu\\w* reduz\\w* verminder\\w* 减少 降低 削減",
    "faster": "schneller plus_rapide\\w* más_rápid\\w* più_veloc\\w* mais_rápid\\w* sneller 更快 加速 速く",
    "latency": "latenz\\w* latence latencia latenza latência 延迟 レイテンシ",
    "energy": "energie énergie energía energia 能量 能耗 エネルギー",
    "memory": "speicher\\w* mémoire memoria memória geheugen 内存 显存 メモリ",
    "train": "trainier\\w* entraîn\\w* entren\\w* addestr\\w* trein\\w* getraind 训练 訓練 学習",
    "training": "training entraînement entrenamiento addestramento treinamento",
    "reinforcement learning": "bestärkend\\w*_lernen apprentissage_par_renforcement "
    "aprendizaje_por_refuerzo 强化学习 強化学習",
    "baseline": "vergleichsverfahren référence línea_base 基线 ベースライン",
    "language model": "sprachmodell\\w* modèles?_de_langue modelos?_de_lenguaje "
    "modelli_linguistici taalmodel\\w* 语言模型 言語モデル",
    "agent": "agenten? agents agentes agenti 智能体 エージェント агент\\w*",
    "cooperate": "zusammenarbeit\\w* coop\\w+ colabor\\w* kooperier\\w* 合作 協力",
    "teammates partner": "mitspieler\\w* partner\\w* coéquipier\\w* compañer\\w* 队友 仲間 相手",
    "population": "bevölkerung 种群 集団",
    "image": "bild\\w* imagen\\w* immagin\\w* imagem imagens afbeelding\\w* 图像 画像",
    "text": "texte? texto\\w* testo 文本 テキスト",
    "video": "vidéo\\w* vídeo\\w* 视频 動画",
    "input": "eingabe\\w* entrées? entradas? ingress\\w* invoer 输入 入力",
    "output": "ausgabe\\w* sorties? salidas? uscit\\w* saídas? uitvoer 输出 出力",
    "harmful": "schädlich\\w* nuisible\\w* dañin\\w* dannos\\w* nociv\\w* prejudicia\\w* schadelijk\\w* 有害",
    "detect": "erkenn\\w* détect\\w* detect\\w* rileva\\w* 检测 検出",
    "attack": "angriff\\w* attaque\\w* ataque\\w* attacch\\w* aanval\\w* 攻击 攻撃",
    "safety": "sicherheit sécurité seguridad sicurezza segurança veiligheid 安全",
    "layer": "schicht\\w* couche\\w* capas? strat[oi] camadas? lagen 层 層",
    "parameter": "paramètre\\w* parámetro\\w* parametri parâmetro\\w* 参数 パラメータ",
    "space": "raum espace espacio spazio espaço ruimte 空间 空間",
    "policy strategy": "strategie\\w* stratégie\\w* politique estrategia\\w* strategia política 策略 方策",
    "learn": "lernt lernen apprend\\w* aprend\\w* impara\\w* leert leren 学习 学ぶ",
    "code": "código codice 代码 コード код",
    "available": "verfügbar disponible\\w* disponibil\\w* disponíve\\w* beschikbaar 公开 公開",
    "automatic": "automati\\w* automático\\w* 自动 自動",
    "prompt": "prompts? 提示 プロンプト",
    "game": "spiel\\w* jeux? juego\\w* gioc\\w* jogo\\w* spel 游戏 ゲーム",
    "problem": "problem\\w* problème\\w* 问题 問題",
    "compress": "komprimier\\w* kompression comprim\\w* compression compr[ei]\\w+ 压缩 圧縮",
    "quantization": "quantisierung cuantización quantizzazione quantização kwantisatie 量化 量子化",
    "protein": "proteine?\\w* protéine\\w* proteína\\w* 蛋白质 タンパク質",
    "generate": "erzeug\\w* generier\\w* gén[eé]r\\w* genera\\w* ger[ae]\\w* genereer\\w* 生成",
    "projection": "projektion proyección proiezione projeção 投影",
    "construct": "konstruier\\w* gebaut construi\\w* costrui\\w* 构建 構築",
}


def _alone(word: str) -> str:
    """A pattern for a word by itself; scripts without spaces have none."""
    word = word.replace("_", " ")
    return word if _OTHER_SCRIPT.match(word) else rf"(?<!\w)(?:{word})(?!\w)"


_TERM = re.compile(r"[A-Za-z][\w+.-]*|\d[\w.,%]*")
_MEANT = [
    (re.compile("|".join(_alone(word) for word in words.split()), re.IGNORECASE), english)
    for english, words in _MEANINGS.items()
]


def is_english(text: str) -> bool:
    """Whether `text` is in English, as far as its little words and its letters tell."""
    if len(_OTHER_SCRIPT.findall(text)) > len(text) / 5:
        return False
    return len(_FUNCTION_WORDS.findall(text)) <= len(_ENGLISH_WORDS.findall(text))


def in_english(text: str, known: Callable[[str], bool]) -> str:
    """The names, numbers and `known` words of `text`, and what is understood of the others, in their order."""
    found = {match.span(): english for meant, english in _MEANT for match in meant.finditer(text)}
    found |= {
        match.span(): match.group()
        for match in _TERM.finditer(text)
        if match.span() not in found and (looks_like_name(match.group()) or known(match.group().lower()))
    }
    return " ".join(dict.fromkeys(word for _, word in sorted(found.items()))) or text
